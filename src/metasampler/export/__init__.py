"""Export: a fitted ensemble as a file of ONNX, for services in other languages."""

from metasampler.export._to_onnx import export_onnx, to_onnx

__all__ = ["export_onnx", "to_onnx"]
