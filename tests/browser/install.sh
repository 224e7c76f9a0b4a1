#!/bin/sh
# Installs what the browser tests need: the dependency group "browser" and, as root on Debian, chromium.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
"$python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
"$python" -m pip install --quiet --disable-pip-version-check --no-compile --group browser
if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    apt-get install -qq --yes --no-install-recommends chromium
else
    echo "There is no chromium; install it with the packages of your system, or run this script as root on Debian." >&2
    exit 1
fi
