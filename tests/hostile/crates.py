#!/usr/bin/env python3
# ctest: @CLI@
# ctest-labels: slow
# ctest-timeout: 300
"""Crates made to break a scan: nested, endless, cyclic and huge code. Each is read in a time linear
in its size, and the one sound component it holds is found.

usage: crates.py CANDLE-GRAPH [CASE ...]
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

HEAD = """use candle_core::{Result,Tensor};
use candle_nn::{linear,Linear,Module,VarBuilder};
"""
MANIFEST = """[package]
name = "h"
version = "0.1.0"
edition = "2021"

[dependencies]
candle-core = "0.11.0"
candle-nn = "0.11.0"
"""
GOOD = """pub struct Good{a:Linear}
impl Good{pub fn new(vb:VarBuilder)->Result<Self>{Ok(Self{a:linear(3,4,vb.pp("a"))?})}}
"""
SECONDS, MEGABYTES = 20, 2000
cases = {}


def case(function):
    cases[function.__name__] = function
    return function


@case
def parens(n=2*10**5):
    return GOOD+'pub fn f()->i32{'+'('*n+'1'+')'*n+'}\n'


@case
def parens_ctor(n=50000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let n=' +
        '('*n +
        '1' +
        ')'*n +
        '; Ok(Self{a:linear(n,n,vb.pp("a"))?})}}\n')


@case
def braces_ctor(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let n=' +
        '{'*n +
        '1' +
        '}'*n +
        '; Ok(Self{a:linear(n,n,vb.pp("a"))?})}}\n')


@case
def chain(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let v=vb' +
        '.pp("x")'*n +
        '; Ok(Self{a:linear(1,2,v)?})}}\n')


@case
def chain_clone(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let v=vb' +
        '.clone()'*n +
        '; Ok(Self{a:linear(1,2,v)?})}}\n')


@case
def plus(n=50000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{let v=k' +
        '+k'*n +
        '; Ok(Self{a:linear(1,v,vb)?})}}\n')


@case
def plus_names(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{let v=0' +
        ''.join('+c.f%d'%i for i in range(n)) +
        '; Ok(Self{a:linear(1,v,vb)?})}}\n')


@case
def product(n=300):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{let v=1' +
        ''.join('*(c.f%d+1)'%i for i in range(n)) +
        '; Ok(Self{a:linear(1,v,vb)?})}}\n')


@case
def functions(n=20000):
    return GOOD+''.join('pub fn f%d(x:&Tensor)->Result<Tensor>{x.relu()}\n'%i for i in range(n))


@case
def ctors(n=4000):
    return (
        GOOD +
        ''.join(
            ('pub struct S%d{a:Linear}\nimpl S%d{pub fn '
             'new(vb:VarBuilder)->Result<Self>{Ok(Self{a:linear(3,4,vb.pp("a"))?})}}\n')
            % (i,i) for i in range(n)))


@case
def nested_ctors(n=120):
    return (
        GOOD +
        'pub struct S0{a:Linear}\nimpl S0{pub fn '
        'new(vb:VarBuilder)->Result<Self>{Ok(Self{a:linear(3,4,vb.pp("a"))?})}}\n' +
        ''.join(
            ('pub struct S%d{a:S%d,b:S%d}\nimpl S%d{pub fn '
             'new(vb:VarBuilder)->Result<Self>{Ok(Self{a:S%d::new(vb.pp("a"))?,b:S%d::new('
             'vb.pp("b"))?})}}\n')
            % (i,i-1,i-1,i,i-1,i-1) for i in range(1,n)))


@case
def mutual(n=60):
    return (
        GOOD +
        ''.join(
            ('pub fn g%d(vb:VarBuilder,k:usize)->Result<Linear>{let '
             'a=g%d(vb.pp("x"),k+1)?; let b=g%d(vb.pp("y"),k+2)?; if k>3 {Ok(a)} else '
             '{Ok(b)}}\n')
            % (i,(i+1)%n,(i+7)%n) for i in range(n)))


@case
def match_huge(n=5000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{let v=match k {' +
        ''.join('%d=>%d,'%(i,i+1) for i in range(n)) +
        '_=>0}; Ok(Self{a:linear(1,v,vb)?})}}\n')


@case
def match_builders(n=1000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{let v=match k {' +
        ''.join('%d=>linear(1,%d,vb.pp("a%d"))?,'%(i,i+1,i) for i in range(n)) +
        '_=>linear(1,1,vb)?}; Ok(Self{a:v})}}\n')


@case
def ifs(n=3000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{let '
        'mut v=1;' +
        ''.join('if c.f%d {v+=%d;}'%(i,i) for i in range(n)) +
        ' Ok(Self{a:linear(1,v,vb)?})}}\n')


@case
def ifs_ret(n=2000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{' +
        ''.join(
            ('if c.f%d {return Ok(Self{a:linear(1,%d,vb.pp("a%d"))?});}')
            % (i,i,i) for i in range(n)) +
        ' Ok(Self{a:linear(1,1,vb)?})}}\n')


@case
def elseifs(n=2000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{let a=' +
        ''.join('if c.f%d {linear(1,%d,vb.pp("a%d"))?} else '%(i,i,i) for i in range(n)) +
        '{linear(1,1,vb)?}; Ok(Self{a})}}\n')


@case
def uses(n=3000):
    return (
        GOOD +
        ''.join(
            ('pub mod m%d{pub use super::m%d::*; pub use super::m%d::X as Y%d;}\n')
            % (i,(i+1)%n,(i+3)%n,i) for i in range(n)) +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder)->Result<Self>{m5::hello(vb.pp("x")); let '
        'q=m7::X::new(vb)?;Ok(Self{a:q})}}\n')


@case
def types(n=2000):
    return (
        GOOD +
        ''.join('pub type T%d=T%d;\n'%(i,(i+1)%n) for i in range(n)) +
        ''.join(
            ('pub struct U%d{a:Box<U%d>,b:Vec<U%d>}\n')
            % (i,(i+1)%n,(i+2)%n) for i in range(n)) +
        'pub struct B{a:Linear,t:T0}\nimpl B{pub fn '
        'new(vb:VarBuilder,t:T3,u:U5)->Result<Self>{let k=u.a.a.a.b[0].a; '
        'Ok(Self{a:linear(1,2,vb)?,t})}}\n')


@case
def macro_rec(n=1):
    return (
        GOOD +
        'macro_rules! m{($($t:tt)*)=>{m!{$($t)* $($t)*}}}\nmacro_rules! '
        'e{($x:expr)=>{e!(($x)+($x))}}\npub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder)->Result<Self>{m!{a b}; let k=e!(1); '
        'Ok(Self{a:linear(1,k,vb)?})}}\nm!{x}\n')


@case
def closures(n=3000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let f=' +
        '|x|'*n +
        'x; let g=' +
        'move||{'*n +
        '1' +
        '}'*n +
        '; Ok(Self{a:linear(1,f(2),vb)?})}}\n')


@case
def closure_calls(n=200):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let '
        'f0=|p:&str|linear(1,2,vb.pp(p));' +
        ''.join('let f%d=|p:&str|{let _=f%d(p);f%d(p)};'%(i,i-1,i-1) for i in range(1,n)) +
        ' Ok(Self{a:f%d("x")?})}}\n'%(n-1))


@case
def loops(n=12):
    return (
        GOOD +
        'pub struct B{a:Vec<Linear>}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let '
        'mut a=vec![];' +
        ''.join('for i%d in 0..50{'%i for i in range(n)) +
        'a.push(linear(1,2,vb.pp(i0).pp(i1))?);' +
        '}'*n +
        ' Ok(Self{a})}}\n')


@case
def push_grow(n=40):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let mut '
        's=String::from("ab");' +
        's=format!("{s}{s}");'*n +
        ' Ok(Self{a:linear(1,2,vb.pp(&s))?})}}\n')


@case
def list_grow(n=40):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let mut '
        's=vec![1,2];' +
        's.extend(s.clone());'*n +
        ' Ok(Self{a:linear(1,s.len(),vb)?})}}\n')


@case
def tuple_grow(n=60):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{let t0=(k,k);' +
        ''.join('let t%d=(t%d,t%d);'%(i,i-1,i-1) for i in range(1,n)) +
        (' let q=t%d==t%d; let m=if q {t%d} else {t%d}; '
         'Ok(Self{a:linear(1,2,vb)?})}}\n') % (n-1,n-2,n-1,n-1))


@case
def fill(n=1):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let '
        's=[[[1usize;60000];60000];60000]; let v=vec![0;1<<60]; let r="x".repeat(1<<40); '
        'for i in 0..usize::MAX {let _=linear(1,2,vb.pp(i))?;} '
        'Ok(Self{a:linear(1,s[0][0][0],vb.pp(r))?})}}\n')


@case
def mods_deep(n=3000):
    return GOOD+''.join('pub mod m{' for i in range(n))+'}'*n


@case
def generics(n=60):
    return (
        GOOD +
        'pub struct W<T>(T);pub trait Mk{fn mk(vb:VarBuilder)->Result<Self> where '
        'Self:Sized;}\nimpl Mk for Linear{fn '
        'mk(vb:VarBuilder)->Result<Self>{linear(1,2,vb.pp("l"))}}\nimpl<T:Mk> Mk for '
        'W<T>{fn mk(vb:VarBuilder)->Result<Self>{Ok(W(T::mk(vb.pp("w"))?))}}\nimpl<T:Mk,U'
        ':Mk> Mk for (T,U){fn mk(vb:VarBuilder)->Result<Self>{Ok((T::mk(vb.pp("w"))?,U::m'
        'k(vb)?))}}\npub struct B{a:' +
        'W<'*n +
        'Linear' +
        '>'*n +
        '}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{Ok(Self{a:Mk::mk(vb)?})}}\npub'
        ' fn grow<T:Mk>(vb:VarBuilder,k:usize)->Result<Linear>{grow::<W<(T,T)>>(vb,k)}\np'
        'ub fn begin(vb:VarBuilder)->Result<Linear>{grow::<Linear>(vb,1)}\n')


@case
def long_key(n=1):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder)->Result<Self>{Ok(Self{a:linear(1,2,vb.pp("' +
        'a.'*500000 +
        '"))?})}}\n')


@case
def many_params(n=5000):
    return (
        GOOD +
        'pub struct B{a:Vec<Linear>}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let '
        'mut a=vec![];' +
        ''.join('a.push(linear(1,2,vb.pp("x%d"))?);'%i for i in range(n)) +
        ' Ok(Self{a})}}\n')


@case
def many_fields(n=5000):
    return (
        GOOD +
        'pub struct B{' +
        ''.join('x%d:Linear,'%i for i in range(n)) +
        '}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{Ok(Self{' +
        ''.join('x%d:linear(1,2,vb.pp("x%d"))?,'%(i,i) for i in range(n)) +
        '})}}\n')


@case
def many_unused(n=5000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{' +
        ''.join('let _v%d=vb.pp("x%d");'%(i,i) for i in range(n)) +
        ' Ok(Self{a:linear(1,2,vb)?})}}\n')


@case
def many_lets(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder)->Result<Self>{let v0=1;' +
        ''.join('let v%d=v%d+1;'%(i,i-1) for i in range(1,n)) +
        ' Ok(Self{a:linear(1,v%d,vb)?})}}\n'%(n-1))


@case
def broken(n=5000):
    return GOOD+'impl B {{{{ fn (('*n


@case
def deep_type(n=20000):
    return (
        GOOD +
        'pub struct B{a:' +
        'Box<'*n +
        'Linear' +
        '>'*n +
        '}\nimpl B{pub fn new(vb:VarBuilder,k:' +
        '&'*n +
        'usize)->Result<Self>{Ok(Self{a:linear(1,2,vb)?})}}\n')


@case
def deep_pattern(n=20000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{let ' +
        '('*n +
        'x' +
        ',)'*n +
        '=k; match k { ' +
        'Some('*n +
        'y' +
        ')'*n +
        '=>(),_=>()}; Ok(Self{a:linear(1,x,vb)?})}}\n')


@case
def deep_use(n=5000):
    return GOOD+'use '+'a::{'*n+'b'+'}'*n+';\n'


@case
def deep_cfg(n=5000):
    return '#[cfg('+'all('*n+'feature="x"'+')'*n+')]\n'+GOOD


@case
def whiles(n=200):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn new(vb:VarBuilder,c:C)->Result<Self>{let '
        'mut k=1;' +
        ''.join('while k<c.f%d {k*=2; let _=linear(1,k,vb.pp(k))?;'%i for i in range(n)) +
        '}'*n +
        ' Ok(Self{a:linear(1,k,vb)?})}}\n')


@case
def fmt(n=10000):
    return (
        GOOD +
        'pub struct B{a:Linear}\nimpl B{pub fn '
        'new(vb:VarBuilder,k:usize)->Result<Self>{Ok(Self{a:linear(1,2,vb.pp(format!("' +
        '{k}'*n +
        '")))?})}}\n')



def scan(binary, home, text):
    """Seconds of CPU, and what went wrong."""
    os.makedirs(os.path.join(home, "src"), exist_ok=True)
    open(os.path.join(home, "Cargo.toml"), "w").write(MANIFEST)
    open(os.path.join(home, "src", "lib.rs"), "w").write(HEAD + text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    # Sanitizers reserve more address space than there is.
    try:
        done = subprocess.run(
            [binary, "query", "components", "--path", home, "--format", "json",
             "--limit", "100000"],
            capture_output=True, timeout=4 * SECONDS,
            preexec_fn=None if os.environ.get("ASAN_OPTIONS") else limit)
    except subprocess.TimeoutExpired:
        return 0, "takes more than %d s" % (4 * SECONDS)
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-200:]
        return took, "exit %d: %s" % (done.returncode, said)
    good = [i for i in json.loads(done.stdout)["items"] if i["qualified_name"] == "Good"]
    if not good or good[0]["parameters"] != 2:
        return took, "the sound component is lost"
    return took, "takes %.1f s" % took if took > SECONDS else None


def main():
    binary, only = sys.argv[1], sys.argv[2:]
    bad = 0
    with tempfile.TemporaryDirectory() as home:
        for name, make in cases.items():
            if only and name not in only:
                continue
            took, wrong = scan(binary, home, make())
            if wrong:
                bad += 1
                print("%s: %s" % (name, wrong))
        for name in ("functions", "ctors", "many_params") if not only else ():
            few, _ = scan(binary, home, cases[name](1500))
            many, _ = scan(binary, home, cases[name](6000))
            if many > 8 * few + 0.5:
                bad += 1
                print("%s: %.2f s, and %.2f s for four times as much" % (name, few, many))
    print("%d crates, %d fail" % (len(cases), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
