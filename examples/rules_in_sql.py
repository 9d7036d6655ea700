"""From rules to SQL: decide inside the database

Rules export to one SELECT that decides exactly as `predict` does, so that a model can run where the rows are.
Here this is DuckDB; the same call writes SQLite, PostgreSQL and BigQuery.
"""

# %%
import duckdb
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import clausewise

data = load_wine(as_frame=True)
wines = data.data.rename(columns={"od280/od315_of_diluted_wines": "od280"})
forest = RandomForestClassifier(200, random_state=0).fit(wines, data.target_names[data.target])
rules = clausewise.extract(forest, wines, max_rules=6)
rules

# %% [markdown]
# ## The query

# %%
query = rules.to_sql("wines", "duckdb", decision="grower")
print(query)

# %% [markdown]
# ## Run it
# Nearly a million wines, drawn from the table with a little noise. The rows stay in the database.

# %%
database = duckdb.connect()
database.register("few", wines)
noisy = ", ".join(f'"{name}" * (0.95 + 0.1 * random()) AS "{name}"' for name in wines)
database.execute("SELECT setseed(0.5)")
database.execute(f"CREATE TABLE wines AS SELECT {noisy} FROM few, range(1_000_000 // {len(wines)})")
counts = database.execute(f"SELECT grower, count(*) AS wines FROM ({query}) GROUP BY grower ORDER BY grower")
counts.df()

# %% [markdown]
# ## Exactly the same decisions

# %%
decided = database.execute(query).df()
same = decided["grower"].to_numpy() == rules.predict(decided[list(wines)])
print(f"{same.sum():,} of {len(same):,} decisions are equal")

# %% [markdown]
# ## A look at what was decided

# %%
sample = decided.sample(3_000, random_state=0)
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for grower, wines_of_one in sample.groupby("grower"):
    axis.scatter(wines_of_one["flavanoids"], wines_of_one["color_intensity"], s=5, alpha=0.5, label=grower)
axis.set(xlabel="flavanoids", ylabel="colour intensity")
axis.legend(markerscale=3, frameon=False)

# %% [markdown]
# ## A view for everybody else

# %%
database.execute(f"CREATE VIEW decided AS {query}")
database.execute("SELECT alcohol, proline, grower FROM decided LIMIT 3").df().round(2)
