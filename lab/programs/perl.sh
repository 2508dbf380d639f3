# SPDX-License-Identifier: MIT
# Debian ships none of perl's own tests; these scripts use what those use most.
need() {
    require perl
    perl -MStorable -MJSON::PP -MData::Dumper -MDigest::MD5 -e1 2>/dev/null ||
        skip "perl has no Storable, JSON::PP or others"
}

work() { measured perl "$here/perl_work.pl" "$(of 1 6)"; }
