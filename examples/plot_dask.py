"""
The same members on a Dask cluster
==================================

The rows stay on the cluster: a fit asks its workers only for small results. The ensemble is the
same, bit for bit, as one that grows in memory. You need the extra ``dask``: in a clone of the
repository, run ``pip install ".[dask,plot]"``. The claims are synthetic. The example starts a small
cluster of its own.
"""

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from metasampler import MesaClassifier
from metasampler.datasets import make_claims
from metasampler.distributed import DaskMesaClassifier

claims = make_claims(4000)
in_memory = MesaClassifier(recipe="fast", random_state=0)
in_memory.fit(claims.drop(columns="fraud"), claims["fraud"])

# %%
# Pass one Dask data frame with a label column. Here it has five partitions.
with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    rows = dd.from_pandas(claims, npartitions=5)
    recipe = MesaClassifier(recipe="fast", random_state=0)
    on_cluster = DaskMesaClassifier(recipe, client=client, label="fraud").fit(rows)
    model = on_cluster.to_local()  # a plain classifier, which needs no cluster

# %%
# The probabilities are the same, however the rows are partitioned.
new = make_claims(1000, random_state=1)
ours, theirs = (clf.predict_proba(new)[:, 1] for clf in (in_memory, model))
print(f"largest difference: {np.abs(ours - theirs).max()}")

figure, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.plot(ours, theirs, ".", color="#0072B2")
ax.set(xlabel="probability, grown in memory", ylabel="probability, grown on Dask")
ax.spines[["top", "right"]].set_visible(False)
