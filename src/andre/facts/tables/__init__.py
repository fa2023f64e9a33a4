"""Tables as people have them: what was found, and what each column is taken for.

- `raw`: the columns as found in files, DataFrames and arrays
- `cells`: what is missing, true or false, a number or a date in text
- `schema`: the kind of every column, learned from some rows and applied to others
- `labels`: the classes of the label column
- `examples`: rows with their labels and weights
"""
