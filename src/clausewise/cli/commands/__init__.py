"""One module per command, or per two that share their options; `docs/cli.md` describes them."""
