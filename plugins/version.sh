#!/usr/bin/env bash
echo "asking git in $PWD"
echo "version=$(git describe --always --dirty)" >> "$PIPE_OUTPUT"
