"""The teams of `MesaClassifier`'s default ensemble, for studies of each alone."""

from metasampler.ensemble._calibration import Blend, SigmoidCalibration
from metasampler.ensemble._recipes import RECIPES, Recipe
from metasampler.ensemble._training_boosters import Boosters

__all__ = ["RECIPES", "Blend", "Boosters", "Recipe", "SigmoidCalibration"]
