# SPDX-License-Identifier: MIT
# As python.sh, but without python's own allocator of small objects in between.
PYTHONMALLOC=malloc
export PYTHONMALLOC
. "$here/python.sh"
