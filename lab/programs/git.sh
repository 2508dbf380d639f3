# SPDX-License-Identifier: MIT
# A repository that grows by commits with fixed dates: what git makes of it has the same names everywhere.
need() { require git awk; }

GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@example.org GIT_AUTHOR_DATE='1700000000 +0000'
GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@example.org GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE

in_repo() { measured git -C repo "$@"; }

write_files() { # commit
    awk -v commit="$1" -v files="$(of 60 300)" 'BEGIN {
        for (f = 0; f < files; f++) {
            name = sprintf("repo/d%d/f%d.txt", f % 7, f)
            for (line = 0; line < 120; line++)
                printf "file %d line %d of %d\n", f, line, (line * 7 + f) % 11 < commit ? commit : line * f > name
            close(name)
        }
    }'
}

work() {
    rm -rf repo copy
    measured git init -q -b main repo
    mkdir repo/d0 repo/d1 repo/d2 repo/d3 repo/d4 repo/d5 repo/d6
    for commit in $(seq "$(of 6 12)"); do
        write_files "$commit"
        in_repo add -A
        in_repo commit -q -m "state $commit"
    done
    in_repo checkout -q -b side HEAD~3
    echo more >repo/side.txt
    in_repo add -A
    in_repo commit -q -m side
    in_repo checkout -q main
    in_repo merge -q -m merge side
    in_repo -c gc.auto=0 -c pack.threads=2 repack -adfq --depth=50 --window=50
    in_repo gc -q
    in_repo fsck --full --strict
    measured git clone -q --no-local repo copy
    in_repo log -p --stat | cksum
    in_repo blame d1/f1.txt | cksum
    in_repo diff HEAD~4 | cksum
    measured git -C copy rev-parse HEAD
}
