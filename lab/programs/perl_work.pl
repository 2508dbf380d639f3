# SPDX-License-Identifier: MIT
# What perl programs do with memory, with answers that depend on nothing but the argument: how often.
use strict;
use warnings;
use Config;
use Data::Dumper;
use Digest::MD5 qw(md5_hex);
use JSON::PP;
use Storable qw(freeze thaw dclone);

my $times = shift // 1;
my $state = 1;
sub pick { my ($below) = @_; $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $below; }

sub hashes {
    my %count;
    $count{ 'k' . pick(50000) } += $_ for 1 .. 150000;
    delete @count{ grep { pick(3) == 0 } sort keys %count };
    return md5_hex(join ',', map { "$_=$count{$_}" } sort keys %count);
}

sub texts {
    my @words = map { join '', map { chr(97 + pick(26)) } 1 .. 2 + pick(9) } 1 .. 30000;
    my $text = join ' ', @words;
    (my $upper = $text) =~ s/\b(\w)(\w*)/\U$1\E$2/g;
    my %first;
    push @{ $first{ lc $1 } }, $2 while $upper =~ /\b(\w)(\w+)/g;
    my $long = '';
    $long .= reverse($_) x (1 + length($_) % 3) for @words;
    return md5_hex($upper . $long . join ',', map { "$_:" . @{ $first{$_} } } sort keys %first);
}

sub trees {
    my $make;
    $make = sub { my ($depth) = @_; $depth ? { l => $make->($depth - 1), r => $make->($depth - 1), v => pick(1000), t => 'x' x pick(60) } : undef };
    my $tree = $make->(12);
    my $copy = thaw(freeze(dclone($tree)));
    my $coder = JSON::PP->new->canonical;
    my $json = $coder->encode($copy);
    local $Data::Dumper::Sortkeys = 1;
    return md5_hex($json . Dumper($coder->decode(substr $json, 0)));
}

sub closures {
    my @subs = map { my $n = $_; my @own = (1 .. $n % 40); sub { $n + @own + shift } } 1 .. 20000;
    my $sum = 0;
    $sum += $_->(3) for sort { $a->(0) <=> $b->(0) } @subs;
    return $sum;
}

sub children {
    my @found;
    for my $n (1 .. 4) {
        my $pid = open(my $from, '-|') // die "fork: $!";
        if (!$pid) { my %h = map { $_ => [ ($_) x $n ] } 1 .. 5000; print scalar(keys %h) * $n; exit 0; }
        push @found, <$from>;
        close $from or die "child: $?";
    }
    return join ',', @found;
}

sub in_threads {
    return 'no threads' unless $Config{useithreads};
    require threads;
    my @all = map { my $n = $_; threads->create(sub { my %h; $h{ $_ * $n } = "v$_" for 1 .. 20000; scalar keys %h }) } 1 .. 3;
    return join ',', map { $_->join } @all;
}

for my $round (1 .. $times) {
    print "$round ", join(' ', hashes(), texts(), trees(), closures(), children(), in_threads()), "\n";
}
