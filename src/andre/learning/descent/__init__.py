"""Runs of gradient descent: how they are trained, and which rules their weights say.

`trainer` trains K runs at once, `runs` holds their weights and takes the steps, `extraction` reads
bodies from weights, and `devices` says where all that happens. Everything but `devices` needs torch.
"""
