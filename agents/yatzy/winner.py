"""Play for the first place, against up to five others: points count as far as they help to be ahead at the end.

What everybody's points to come are like is known from the filled boxes and the sum of the upper ones: for one who plays
for the highest mean, all 1,430,528 positions have been solved (``dicegym solve yatzy distributions``). SUMMARY holds
four numbers of each as products of a few columns: mean and variance of the points without the bonus, the chance of the
bonus, and how far the two go together. With three boxes open or fewer, distributions are computed exactly. From the
others' follows how often each final total wins; from its own, how often each end of the turn does.
"""

import zlib
from base64 import b85decode
from functools import lru_cache
from itertools import combinations_with_replacement
from math import erf, factorial, sqrt

import numpy as np

PURE = True

SUMMARY = """
c-o|02Vhi1^MCb9dO{DqCN!xE*!}Dcv3_>+^DiI*N)eGBN=Sh~DlPP;Vxb8NQY?rdf*>75dM|0$U-{4MzW453a>-rdL`m-6+crBpJ3Bl3+ryo1OK#t$`F|d
J@c!G|O`MvRH)sC5{F(FeW~QZ#8~w!F@4VUju8&i5<}O{ne&eR~YrovM=JVwX=jF~wo0vL%!514gZQlLIzTH3lym!}@jqAT&xwtU@z`;YuPMkbl!iY9ogT~
F8B-Uz@Sg)3yQzfbR>iKgI4^K<!-zPO=X8wxRn||1N@Ys<<hkrkEV9!t6Hm+U0a%thb!X;nqI(GHu<?E*o?EHT1XT`-OB_*Y09xsznuX*dXciwmZUERCge@
~BgNzI!yj*pBGSjPM9x8H5~e#h>k=dPCdA`_x*0vBzQ9M>+MJ$3x|JwHYhiiwGhi?7qLW4Am1^T?}xUwQF`K5xC&`>_Y^xw~7(<W|j^)~{D9p_NXp+ax6=b
$<BS7himJ#K;c@^cy(({nuZ5@x?w5-E-HSJ-c;m*S2laIE}^=nh2D-XywY4D>iN0v17+~-*4KqY2%9d^XJc-o0d9t>eNXSCrp^|{K!?yQ~E7iwtU5^&)03*
`NzpqCB;ss>xQTJ+L=>__W%0x*3I9n+q`+p_glC9`0KvEt`@s&(a~{{d`yJwF1dX6pW_Gj@A@fDqxghc^%^(nboagYzx?0VUwh@bw_bVaiT~VpPv_g(wrt+
CLA|=Qj~zR9{KScqf1khVWFzXd?%2LV>((9HHmVb8Wqf7VE}#3mgP%Hf?9{1Oucw}R{q>JN`uO9aL&uICIPi@(`t*6^k$dm$(W7hE&Yf?2&`b|K{Kz9u_IZ
2Y;E%GhXJ$>CHYa1;sE>xc`_}8P{P(%1pLqPSM<03kp?PKkPRuVXT(Dr-vdx>fZ99JaufGl*I(hQ&;U9ne_S=mcSFT*PZ1Lg+3knP2H7}A+l4Q;ro!GAXqr
IQ%)BEvfpSr(i$2LuC$3}9D^t73J_wM~npBG<!{ryp+^Jf>#F3egoKWj?Lh+*&d`(NKz{`<o7&-Ll^%rm|JFOc5t*RTJeA;VHKv%lW(<@zs{Z~l5wVa~M4D
Pu;B81nx6?+qBxzu&v>ZV5);fB*eYKmBz4_;H`lS5{Ug%ktT?XOA8|x^w4F==ZH#x55kf-lU2&dGeI>%o*7W*X;Xq@7`bc{I!3_hR;_lUNAQ=D>HrCG?0=h
QzlQIe55iudi2z()2GYI5)*6JPDp6l)MD{?9F7YYPM!MeuM;PZ9fL|7h1YIWK{v}BPKPt1N4Iuu+H`oJb?w;Lm{{Ho%_uD?x`}k-#zUd#NkShJ8ce7+p+^Z
lG-$-SpYum;BeZ?T4?Fi9`1`WM8<kKyA*xP{D7kK4I{nw-1HbRy^)qeMUl;j=j&0l5kMtE^Jbm(5J3qB=-=SldZap4({*_mUeLQC5;L#rqdFR#tzVP^i_uS
R1Yv)cKJ9KDYhUAXz^5m198rT$<<B<S*^wGy2d%X8^Z}%TDde)rWS<~m{O`Y)Zh=K3)edXmo&pi3W;~=JwKKh24-bCu#_pP@Fd@?yLYxTM>moHzxA|C{N?8
xCm2ladBe{a9lw=cf4At-$VwB-PFgTv+V+$y_u>&A%#fBdn3>y|B>H*JJx+G}++s^7F*??E39ef5!^9a=VSP`_^f3N&EAd+!Y#HeyP4-kP-=H+{Y3n^g<uP
ESu6`^m5m2ZNY`oFYvy(Zs29S0C7Sc=PA;b3vR@=}h>uQaXJ2@X3=!#g4jl8^*=euN&v{78l(*_4mnR$BrC6d<Y5OT2KisT)1@k=ilwVRDAu$Mc0+%`+nT|
?fNfQEnm8L@uGzbwRdh+Nkv5tmpeN8_B*<F>e#bq(}wXeF|y<UVJs;w0)jUzp~xB)9TVH~+2@~p^s!g&>zJIB+$b(GGBUz$1+rLP4~yPGDnOcwL=*&(gx7l
*)U#)=JMVe0&zplM&B~ckkTqezTQB$d&%Jl|?Ac>lC6tzyF(Z4y>UH~%9N%~L*zT>HSFczwFK5>D%#8H3v^4FdMU~RxB}-O)v;Ei0Wkr{~H%=bjyZze@Uwy
iK+0rG8jaN#lrqa?<w>>)Mj-I_b-PyfMqlEZ4+2?iQSl4K46|`;J55FEhFDBHAXcXnUb?)!O`*!{O!;bCSwrS6!LsLvl?b=C6FTVK9Gq1dI_uaSM*05o%T5
)kPK=80tSk$_0`;K>i@bQoVqu=iR*yDHJhVyRg)~#E$8Wld_><p9frWHUbK%W4O`X?lvzECE%y1mPT-I^uv-l8iP&Yd}}J-IDR>eRXWgHH?}J!H}+Z$JO+J
$H5Q+NDz`{Qlvv>5<2udSm+hX^T>a4t^aJ)?<%6^6<m6t4RwNE<ADK#O~d@mo8m8XU?42|EnIo({Ie`uXe7?8T-M&ci(yEf9q;O-+kwB+_>@Mj~h0u`?aRD
FDBu_{$CsZOPVlb@SykKANaw0@BSYQ`M3MN{>n?wKmUAhun(Sjrq7W6Z@&J@8?U|j#%nLX^!&3=J^A?Kk39M?&LWRL@!WGSy!7Jp&pz|?V-G#};D7GF=idA
7zyCiEKJ>_4cinx@J@?%EzytT)drz<KU4XQCt7FH`UAlGe_kaI=?%9{XJbCto7oO|W`^m>1e(-_&@4ff#yD@_Y{__w_P)|Jl_(OO1>T&xWz3#gAfv$wQb?@
H2SFax3yLIl+Avrm@dGi)6TEbXJN=}BHJKc+P-vbXm1l72!2MAT?PVGB(xUF-SE?w{Fai@9u>;OhvhxW;>TQqOdv_WG11`QiEY}}+-^Oh~!v`J2GsZ%Tbr*
+%pHmzGVZ`h!IgZc?^wd&NZQ>T6+@T+mN=1_cWMXH4qg-X_@GC-Vw6alI?G73ld%db8A=wr_id*R_n9tCp{xOP{sJMQS#tqZj8_8y>3k#k7*-gh4`<!)#Tj
E@d&+jr;yBd1HZ+k5m%)~GE|yLK?&w{6p=MUy5?>ea7bzd>SRqsC33a;;joZqr?(JMQS&<M!^|ZtIYo1g&WS&ytec0&luD3nX~bss-d!zkZ!M*qZqGTD9ud
ZP1`mqb5z7Hf@?%o*E`LZq%@0gIe)1u`zb5Jt879IwlSh)u~6S(m)JOHk;kf^9qo|;dHv)XxB0f%kn%j3trIeoc0~scet%%`*umKnl)(zJ=Fj@3R;$w+^${
)f&vp0>({HB5Em6~v0AJ)dqh-pY+ORE+I8xHO;N92Tt$kHi?3ZPK0eZJ6D^DkRS+y9Gy{7oHWpuyD<@S|!P0d)onSt~gbdS$%jH4?-3KN*l57h~cKAO6+Rr
MA<brA5E6Iw=@`4C+HX)nMQ8l?-Wne<xym|iog$q}JZr;R|U}-5a`pV#in^n;*{HOTFrHdCYUHt3sGw05oJ9FX6wQJX|U%#QfaUv9*By^O}enQj`KThbxQ%
^r}=RJ?~)TmdlJMX&t?mK(j-UU{NZIWOCnGCXg8>)fZyAbNyy?f`jEt@rI*0N1Ic+fbIK<=8iXwtZ0-Gqb$7(`&!#DIW-RD$?5YSfqxg!aiz>eX%73?!pYM
XFn`LH&AlYR5(c*9By>jmjyAMr{y|Ix!Up%zu>QxY%e5&-0QOJDVd3qeumie3g@|D6$8viPEcAuU<ppxCLVFa(lc~JmCMPIyGzFEHNQEDmI~R0~oeVqk<FG
C^|AiWEo5?DJsVcDBuyu5Tt<NWwBWpZ&{hsE2CH;g)oR5WsahvtJkibIdk^>`HPn>fg}_a6%+RYrOHQv0s}!&+>VmsYgevazg1jP=5%8t=?Fl&8iKA}yL$c
ll`H4Zo&(W2dFs@u^XD&Jx_tS{747-?&;&Ak;oM&*PX2Y^;E`j;kDUDH4A9wgNaqiPProDmjI<Z&52OPXWT|c)(C-3=y22J27mw<NtCT>ai2}=lnz&U2Dgu
^2URgm^=YK`2ihzHTuk_ZfE0?Yk?&A8%OJs~bzY>~&zn4${11s@kC;tBX?{lPsFC*c@(kiJ8ejGQiUOav3%-IW<u3W!aR7}lhLTAFI)2ELg-@pIh!NZ47oH
%s~EXdR3>l5M8N&N561Ap%Nb?^S)4;(&9oHsz#w3BuMq5I({pj|+}UJZk;U%mX#$s>o39{>9vU;uKAet#@%I)38#v3>h@{_^W@za2Pu_{b6Z?ZIl$frAJ4?
B2HR=bxbc`~LtjJ-DO#^!@kWgT1+V^XBc_x9`|pP1>`2*S2pqZr=X$FTcX4?`lHde!G7C=bx`#yJ^#R>uOA^mwfv5x~2b;>@exa#m3k`gGbpd_Q=?TT6Jo}
e+luiG0}=OD#|YUWJa(?M8_s1)Pf&)ISLE}P~H*)Lp~yw8V=D>Q4uz)MF1NQCI^PMMnp!%*9PrS8*Iedm|0AOO%%%%n_XnQFlr^4#av@z<KQPc3YX#*k@tA
q9*MKT!Y|SenJFqI1xx}?#M(g(5^C3mTEHtdixuo6#^VNZxja6F;VpKwEwO?YQQ$dM@hN^nRU=sK(NN)pI9TS!K&9<gc#p?Qm)GPhOmGok$YBkmA|s*p@FL
HUjQ9XTwIzTJXSc`T{FzV(=FwU)#K!f%R9ebd7!MNE7MhRwgJ~5B^Oy}P%X18)$Zpyc7ubN33jDE0z@$c=vhdXB^|u5n2-6<$#2yW^b9^jRF(SfZ5uhr_FU
Z5?q~wO_niJ5Dq8R~CydIa)PF=Ao3ddQkk&(C_2e#NPFx9hQl#!PzOzDsWx<s_uBcY$8umu9gLLD_d?F*v&(VoT0H!2Dj_X!DcaafGq9`I72VdnuRKpN~ym
Qf|Bw$tegRu>7n9=H_={DiuQ$W2vmnk0EE5=jRf7OggGB#}H0OF&zMzQ9&axPXa>0QrLz0rWBO6~1I}7SqWSlrUS5q;LXQwsyTQpmL^H)XIsho;a|TLBL}`
xa@YTm5enrDOC|>qB0ibc|<f;+iGF3d;M>Sp@{m@sKG~<41$Tol41|*bLc{hgmTOwlcBa2(u)er;9ieY7fx9~p;cw*TUX!!M5$C5j<=$K#ehD5wEzkkt5Bi
Tgv7@Soa}Wu9py{~O*UkP6VWmxDglL*VX71iLLg3HPg<=Jb`(9L9DM$#l}iSP<|XKi*eFmNF<4;~4bJ>ZnNFo;E}7#P#piK3;A3S~@%mu&^2k6NXevmcs#@
FV<8m@4bD$GJ?djh$RS}Lz-e!wJVFq~sv8?clyGnx2g%!O;M4bcb$rJcg4NaibEuc7~B0&~KkzuHmY9xmwBGtSF7O9ai=wT{QOb^BINn2C^nT0u!ic6r!yj
VSKsH?0L-J_l=iO9ZS)do6<ePD07swCtt40x*fptntf3MmZcLjS@H143*U!R{{i&>4cD0x~FH5G5S0Zeun<lEWeFNgn#fW)lP=AKI{${lhOL$ua{qw~8==6
q1VQdLewm&W+FrKjTC!I6_mI!|8$fjgcj6yVL(bsz%)v)&f%(&g)QlxoV9Qbc&J`m@#oCleFQ^Rg>sU1)5$nQasfqugnR=@Ic9BYeqOx;q1?<H6_Mo;ThHT
FUdl@N;Wr)DvOOcAaLy|p!>~gal2IBZu7bwF8FbS#S62%9Uj0WpeQ~k2!x~54YLXKsTHR{P&QPMJ<c*mX<3;Ex=6Ob90yN9=0MO?w<JW^aqyx9p&5n-lZX}
_W^83xMgq<6Rah)v6zB{ML&OW;I!hfMm!!y$A?ST953{8FWMq#UDpcyiX^KO$6LPbH&12G?iqD1BDg|R&mT?{<+gwm-5CfJmTLh}=a}r$!o$c|7U=E8SXe<
;M7AL-nW`x&;vzN<<@?j%Z1ks^nmLv9vsQAQ4JFTn&6T92v0@lGiY>B|eW9uyztu62z^_m;o!V_;Gttf9cYJ5I7bc@UBktGG56ZU~MK^vpXI=lv^wG(q<Ih
^tB#NZ9c2}zRNM4NfNstTNmAfkbp@x+L$AbgU~<#d&mKoxzmfHf!8<2n89pr#ho*j-je{GVRZU@Kt}kY0jfEDWe+>-P9?Nr1~2tUA0el$)#>Tp&omODB3wR
IpnkZP>9yHaKcz1exSv^a6h!FrPsEA!obQVoDLL#Txmr5jf?*A9g~}1fEEtKUMG{k4B!yO`J2b0PUe7EKnt+y;3=$eS<xOj&M}mR#Ib*)0-DsVc=Bjbvkg|
xnWggl268DO;<@&T~kAb>JP2AD4#`9vPN1ps}HM2EJU{lCM*jqeQ}IyJ)^S(<XjQ#bg98rFxw?BaJtMbNvdY*`GrhXsesFFpAd=bEG~GH-EL=@%cBXkHKdd
h3kw!hWhJ;86;Uj#f-&qvEhc<!C+Hw(6RH3!F2i}+@qY3zk6~o0mPooLM{_zTDL8&%Sjvpe28%ef*3D8{j)0vGuV{xgITwypfSv~Klxd^UMus~Vn5HrlnMg
B~<^bal)LI1AOVr0(h#_Q>Xpg6?%<1#M(#wuwAq1pTLJ~@}s}u|qmp#IQmJDl37~U*O1e(}yWLt$QO+tYt6XXrzC^4cHjAG)J!2+wA;ZZ|_y~Ls+Z>PG8=S
&=8t6G8(?dS0LR9J`G$n;aL)5B;P44zV-$A^7O#GW@ZH-vctZ3SbGgVH03YUIsT4~wy~jGZe<R7KLR4ZCAW|AFpsmqIPDZ$-2i8MPW6t7~f?8mM~Lk}vtt#
3_=?$JwJJi4%t~j}j9$!SE>c$`KKfI5fzdTup)uN*q!|BxpTeOI=+P5k#9d9vy;^yt-9jd?iX`l$EU2s$aTR1*a2zPkQIogd~^U!Ya(aq)1fB76A<<>YEg`
i3p2etu`CS_`vif?h4Z3imIr@ob~z?ST>@Yju(jcRneAfAYEv5fc;B`rr}`mdc0nlx7#^<6KqYD`aneN1|t6WEtnt@8rl}*jJ^+srAa<nl~|6YHmS*N<D+k
2c&AJj_+XTBl&|Ghk3O%@137Awuu5{Ldy4*DA)SZ|&d1^;&apDSNeqQb_bokW<GK|rR@J;MhR20^f|!U%!9V}N`hx6NgNev<oL>#l#|k>LELQ9ro4}E&Ify
Dz7?mY@nDiI@3jZ@{1N_YJBAIyYD6o1?<%9`Y$S_o^Q-wg+<#K?}&-6ZYhoWNV!z4hB22!~Ge$Zt;b``qBh=pRT?J4j5kpV`<Wn6sWngui+&sDBq@l}<`3~
FQ;&w++ZP|XTugFHbRG`v^_rX?ycp+_C5DqSNR?WA9ZN=laID51FW<BTHBDXZ|1AfqIShIydu>I{^_CgK?IaX8*YM%#f7%ps(sf=V{EG0VHvC9It_ifk(cY
~qS2$Dr*5R3Ik9p1xoKxg^UoT<-)LQ!IM1QAr5YnkM7KnCx{ws?{zCJQv(>KqoeXW%4-HR=)5FOoS4{L8b!q5?e7%r5<w?J5nNbBw`m#_6+wg*4!4MtxPK=
(om?qg?LWs0)b(f%FHE|LFLE#Sy{yf0X7824ySRRd|Anh!MTK+O6cXc2|QicRODloMEC(S4mOJvRqbh%3>Xw>k;C+C`1>2?@hnM%2mS$AZcRc73IS1#pi2{
NF665SULZ*XD=2uY=1i=nLyjk#KQ=8fUtx!=O2R(nFwjC9Z6Ol`CMN%YDA@zrSuIzd9;rbGE)%fl6=n|TmKFtV<T7Eb5P~ceQNsMIV219Dg~NT^Yapwc>h_
!7K^!ZP#Sk5}9OXu}+Rvg>S|9Z_A(i+80@P(S3H^IyBaLC%8rhe)Vyt0Oe;ziDW&SmhZE%GsX_bD|3=YB_y5Wy|!NiQkceQjlmWe${b%S|=(jKW)i^u_s37
$dom}&x+Cdbkleft-lL0V#;ne{nU$7p^@#3a)ezBCE>fSLiv2DKctelZUVEf+@H)|OerCs<+d&_)owNnWLI8D&;FKVs=<x=|@3@0(@|o;7NPmDR1+02wsOr
%pmLTLz!jw9%t^rdaxg{;$bwrfLg0Z7!+8@=n)A{>j*%S8yV%q#+^Z*U1ifl{==?fHtOaHegCM@4XRi5y&AX_}oh?4^m6&&N1bf6@0Qs<*DF;3>&Wr8=6Mp
xHk=}C7AeBF=a!cxXzOlMz>hPaiM8>Qf5gK7OV@Ss+kDd8&&QBQC|)N2Dc>p`DwN>!q8j(ZRKFo4lD9zLlop(Fy@LN^AuRI#KWo&;tDe^on-x*Acz?9m07u
T$n$irHKz~NOco2}jZ%%4hf2oklNn<gJLTEx?`g2$P44ANGsVS%pz|+O|KPMpm(5|QetrHmnu+374Qmy6k85W#OoP1~MisDg7*pwL_1#V!F0{4vNR2Wmx3;
RR>FCt4T1Ddb4(fTR&~#`U*$32wqI$cxI1%cpS(dFCb6JsNd2ReuB8Qd6mGBsg$OkPvY=&Y49F?ztq~UXcwSv9x-xsY`@rKEv?KxGec$PEvPHN`MM6bDpr&
^?@yY?)skpgN^1F1H)8*AbdCj4jhZJrvAD^b+!f|^^pf^J{@E7ENy)5?o3d$idG3{RHfbi0$&j5My?0@7IcX?4?-7mjec=WkliXyq`5TH%PRR<8}3AjIIsB
z_Z!%m^fns{4dY4KS9XTD%;YtoXo90}we@Gg?`OdTZ(G)o-bp*b<PNHs$i#yc}%f&_7wzeN~OGx{XW>6Vs?M1kbQz0(60iKU(el7M4GDS+ie=rK<)QI)RG;
?YDVzv7G8MS1E{*7|dJ7>Q)06#4xVJ1w;HuD*o%Y0)i+}!wS~A&m=rSG`^|s)CN>5n214*Hk35v8RzeQ+DTO@1ufncqdjHAMp4T-#Hw=8krkWPq6&-r5Jo0
72hh^3q){QfEW|uPA!0P~WWp}KqC1lbE)+_@7NfuJeuuUHu_ooJ_DuyJsiNwxMw7o=cf6Z6(p9xGD<8(CN+lxDXCHFrK>dz8(0Y%DHBl=h&{Pj^A}y86?Y9
Oj&!{+8u^MCOLYFakP+?=fq5v?|nH<L4hCDR0m*%YmPS;g<n^|o=5IDxdmL@}>RV_eQYgkyqZ1Q-sSWVN4kExCeDwq#A2xI-8c$QJaWG{`2S1akb&{Mz48L
o_q3BqxBE5x0nNn*Jggyt+RumZZadQMf9I25VA3f_cJhB9#o@~ps`y0)73nyx4Gzr$&|->J=2T!B~1Kx6bEsp`mdfLB~Vj~UTm)h=CYwsvlZvY`f^X`b$*v
DJ0yn_c^Kx?;JS5{ot{_iuf=n$5@=%^^Lc5-S6ni6%YgcU2hnE>XeymX*m))P@sT=~IhMHFYrRC3vK@o7Zh#g9|KO&C)c1D`(Ahpi<8R>-R(${!72|({@fO
T1M0lO4^|{QCqZD*p$>QIaL$c04GhbZ8%z(-?BA3kqjRq>-V6N7;W5YN0W;+IVH%r)~ZgFgsEwPv!LESh0)yNexul=YFVuy+8cpPGv#J>UoqwV$idwfETh{
aCU19$b*|q5NmY(NWjRf#&+)2is!$dF7;K&bvplZL%IT%x4o=eN_@}G}IA*JM)zE62|1Rg&4dtq#Wh!czMV4EO=*$b|bq`DP(=KBaeM=)?tr4bOP|*bNTW@
N>Hj1(Hqv%^Vfjt9akB=(#XyVQtgD=Q3v3l7GMhyDMRferxy>WVAk7<&tnqySWkw`&B2^7gtJNo*FWDHZhQmMsth7u?SmH1sbV!X<7#bFt^2|_oK6#oXB8q
&3^`+sF^pP*tmL{%mns$v*(djGLu^T`~L%Fu-`Taj1c*)n9~3rD`H1};)-U>0ZsQb{-9^n_NUNgIU-AixtDibSH!*oqMZp*_rG%ZYNgns$!nt3l4veONX4u
1e)rCYiqF8WkQubPLwBb5NZg!38QK`@6Qf)?%R99cJ{BRs=o4UM{2R#DJjUA(Cx&)Kt$>hRI2r!D|$OV77PJ8g(LzGX-btkk`c0CHq(0zY!tyN&S1DZr6yX
lUjQ3j92$3oV)yu<A)Vvw-)3KSUG0UonxNp)9{rRKjk0)^6LpZvNK<p`_7Q=Bk$~>-e0Hog;r%ZHhO;CoBc=b?cxLREsEQ@yg$f4{<Y}DoFyNA{z>M4XTI`
QtG><ek#4{BL+0+BPd`}wVaojz?|!r1OA#%vCl^_Nx9t9F?$PWG16RFVFnnE3=77cH-t0E?(I*?f*xGubIqNwRd2#oGV_&YBv~fyvch7{li_M+q))w#BlfQ
p<#=DEhjC^MDD-YN1(=@3x>1KAn`5&gdnEKK)iGAvK_jI`G`-4AnY4hc8){XgUc=q#?@2-2k(Pid0b=UsvJ!xOQxA^%{kB)xyjkYg0PQKdoB(vp4;n{W0Uw
_FzynJ@wWrIHK{!!09P2cX?MY-F~{9@aGX!ha!A-%>u{&by}nl$;R^~K_^idO%*@SiWf`gp^baraJq;3@l~%wNk-ui7$k^Vp2XQvdU6!ZYlH_6KcE&NMiBe
bu@7o8Djf+&eA**ZgkJ?Kh);<To6d{PVya6SsVl-zWXPcj~>sCmoDkb8np&I<)b1x82y{-Mu?^Z|>?z+X`mBJLmluTfEV(gQM+@o%x4Xt^DY#(I4FY(cKSO
?^oKZJtA!<B9HE$`^TI`@8&<(N$MiUpNu+ibnYKnE8i}7H2>|~*N5HNKlu)4+w;t(%eh~Fw0cO!ljD0m8}XnsaSyj5>QDZcv&;6Ue)@LqLjxN;b|L5MO@}r
eKIz`D|48wXVpsf<tvk=|JbPK(aq_HuR^}Ql+rI1Eu5(u{KmUDEy`YLs*8F~`_)w8EVgHrlh@yzNr1kp_7ab|_)H-;rG@>LjAsN%1Q-mgeJLTF^?S`Fy`ul
=%fw43@<6-MD^_q6yf2Am*C^Ek7H7=r=y;;&-KcBs9xn_@Uf1a^4x3y0G&%q*R9e2IN9z{_J9cy>)`qZIfcO6f?hCNGTYTs73%k90-Fk(wftE7k2#HM#Pzx
&>o&Z#1#Yx@wJ*sN!ZyY7FfC@Q`~?atkMN49GFK>LRteZ3^QR!2zpOl+Hu4|aOwslIZ9COw<ob>DyMcfRAv9=)G`7utK~=QEf1ZO2Y~Pq~%)U;lRS*1?;lv
3o9Dw_FwME!O^isOZmIj=0}1-n3p9BU^4ec}6)cv5k(GdTP1i>vY_4;*9T%#5Fuw>Pv9P)@{G{(hchkYjo?2irA2A(6rnB%SE<Zw%9gT8Czp9u|@Y2W!_re
TJ<}XM#Q&{Y1#J9gGG*7t~&K^zhRGQ7u)`}$4)DJ3!z1;2fTF??`YVg*K=nSp@rC@^#fA9Mm-w!xbwMNG4Wjzx^#Kk)+Xtp<cA)7{Z?dLyM)`iJZW#9bZ?t
`AN;ScUc);Y_q^-*S{=GP+WE03-;nD!zN1OcyI-i=vD;%^AA9;ud+VeJ+CKQuYt4Gy_3WL`J^wZ@D=tow-F9A3Y`mZ{9&f4Y@j5IF>$9+&EWmSKRy`4dsM-
Y!tGc`;sz-8K7+$h+A_M6?oUC~9nO(H-j8AehlI*c^f@&2kn4?cnSvk^T6C!PPE9+C-9L!!3qK%KVMMlU@SCQ;?mqIyifnj`}lCtYwhqH+FN)Ap@y|U9?q<
Fk#g2H$#EU&n4m0t6fxk^}%?BrEWQQV$V#p`p43@brttk2;pmONe;uP{E57kJg<b1;(P#k$%oHjCtd_kD^aG9qKQMn;H=>gE+}pM|uK^T`g@C%bK&AlrD66
&2Pas;m?x+So{oUErWboWywTtVN9w?7$V)CorrWWwi^D)(8vK)61)@g6~56puvJ-g?wToqHVEJu~DMRD;CZw#Mol&anT9!ipyP$?GvGWBE!kPQs+&{=_%uU
ic5g@A-@@~?6N4F&&pX?Z?Wr^?37%b2i{jL9OFfPYwZ)QqT=?!XH~MWB5Suq*s-p>$}<sSgcuzW8^yR)_$&%`F47VmQ7eI*PZuz_S^#e0Q8u3Z;QYohJj3J
noJiarxRVSsAM_r~;W9&hTP!w$tRV<^BpLA`EP}}6zBkPeBjGKg%|dZktQPdq!T)$@7JiEe?k8FV3}v;D-|!4eB~S4;mMuVAux$97XJuAmBy1rV0Wzy%*>-
~Lf%S;6SumuT$M9z;o3}#lHVghQ3K$)4w+RfC&xjnyV18CB!Ab*z(&xkT@p#N!!qXgHkK60P-x7ZBL%15B*XNae9vA#Ly)I`Np3?TXX?!rp&?r2N4MO7<Pg
7w^lDC59IOea&DBzH%SC-r^FXX3CH-(INAXp1VfoERH0}|}UqaU&l%a*;057WVK+2im!-3~l#=61TBJ|7wZoQkVSGzjo0m5Svnk`GJ9BgqU|*Fs%jal#7{<
SBVo#_Praecr-jn4X3vM1tDsXGNgLuUPCwv^E5K{*Kc>YiEgxFAR5Dcr6+hKP&Vk1CQ$=T<VfzV0apbY^Cye8XEHxS>iI}$e95xQX11UdXzK)apFwrX?=)$
48<11n{ZP|54Fbh_?hHKjufe^9)XQ0gV<HLJxj_LMGKZsPLq4_%#o_%aS>Jj4e!c?c?_sC_zaB3&zK=uvx9&^W$^^QOh5{tY#$z8!E-tYn*iN`9ggqf_h{}
x*N_#i3|#{agY*oKFiIX;K7%5H^5i3+Gb|5QE=SAvf5u=YtP6;?jfH`R<-4JL6fz=kkO7JweP2P|G1wmcGY%wd6>k+FJuB$zP2J<IJ2UmQqP}OY`-W)HH^(
w2M+^SOtv17BhB10tUjF=uL&9+ElJB84`VOqV>A)DSI>qpf>8?B7wWRI4lI=QuK`T>Vinc7E-VL*Lt~ZC%e)Jes-FZYDE>Nbneq~JU5BN-7%+&TL(Un>aX!
(lXeAdiMgP&Ua^>`XigG6DBV^MTbO56x^dri^81@zA--zxrq_C-ysyB!z}?L^hXCG_^|pEVZ_r?sD>-c?@E4#Ut$4*%g8x{lXEmo)dV%9@@VvY`cVn0_;+_
cgbid2c=7vr5mFllK(bE%2Gw&zzIr3iapH7&Tn|k>}{D=BYbaD@M`tHQs0a8~wy7LfxS%^}!Q)B%C(ai+XUhg(e9(BRikk_NwMR(mDZm#{JJ3{~0^;`y_7I
?|UJg$Y`C$(vGHqZPeLB>cvsv#`e+0vZ{X%Qw>y8U^p^Gim1QPm7qC&h)Yb%Pb*(hsgF=^FA5Dz7^qobx?r^0=uspr*@Vz~7R7{DO|{iVGp7e?>bg+%k3-g
!p1h^_J!6dO4>V!?<3i_@mN#SeAdwvvW2@HhcF^_)3{S1Ue7YBCMDDPr-G0V!$f@PLDgM2hfbz8y9{&AAV<UmpqmRvHn><2(#TRrFSEXZ`Wz3SJ=~L~A{$s
FT->e{_;Q!H{``wyqzz^NvSBxK$Rz;gcCO^#JiQ~q6JaWX;l(8d+56jNU$(}hQBQ15}gz<P?OzPC}9}ORto;h=7ZgzIo^o(h#`2E<i@MzMMX_;BGW@XQs0p
Cs;KX&XGps{1eW@b*Gku@`K_S|_37ZlFU&(F)o`vX$RB?IZ{>EowO8aaGK%H%0&kUA$fdsbGaQQEli<0p)tkdiuM)~xB%CO}?e$B&03=^2@sGqQ5?=gyzEu
yF3YyquhLawS0;$q*i6x``=M)2GkO&dJWoOo!@>!_;HO;(a&T{RU~6Pj>FyxeE#l=giK}nMJCV3VEdA?FZ@UX{kDqx3h9*&zm=YUO`^=tXb1ir%stXB^BRK
rMDsEnkg?Is1WbdS+!*0k|j$PW+Pv+b8~?5^MJ@(pG=-Q>Z6epC#IxKnmjFiI^iAidQysh8wL>hl`<(cEpx_9pc&8@WDdEt2Y53fL!->;(`V%57R;GHci#N
D`T4mS*nqV3jC6RGo(V(}09U3=%YgpK%9>8uJRb9!fH|e<L|B+HYgR$QT%g&rb8|5(`aM1&zsg+}k)A$dR&IX5+<9~I^9UzXQ%Q$RqgleQyz)eNRJeHY%9T
r(E?&HFVJ=}0@&=z6uh9#NpyrcP(=xE)Gp46c!>d8?OZeJUalQT-AV~Rh=FFQrw;(?!6B&X3WzedpneMMJw_ti!c5Xqz?70PbxwEi&X=&KA>HfEKgAr74{`
~pS#mkm0TZnDY2wFg&YM)bs(6njLr`fsrvuDGYn3VxcBI1{pu9t`}WmiTyIdkR|7A{(}WXa;ig@stgtXY(OIfS&=W>rN6bD)D4ELpSwgeDh8N><ja+}wb43
qsLKLaPWB5~8<zXpcV`lREn2Q6S;k4MJ0)4`*iMAWxq>DFq}OfAHyKyxal?LhAIHGczV>VxKbIOfx`@0JrANFPuBOAa{CZCKY_388gTWI9?`BN}D-j5*<4k
<p?#=ten|%3g^w6lb4I>Q3b$*>C-bQQP~b4OqZ3DKNr#z<Ys3;H%&t+O3N_4TM(RP&z`+t(emXhmMvbobP<t-{Ji|U+2!7vs8Pz4^cgd!Po{sTRII($gqgG
QX3v2!UXV9qdM17WEg<#RUkRxEjGThG`I-2q-nRTIs9^s5MT?g&U%qtVA~FEspV_ku0^doigrEeFp8VN!3i5KMlYy3&uGPkPC$~z<%bPp5aPgw0%RwNqco6
1-0>8S<)g`+snmuRkyah{_ESz5m>0v;SVW=lu6c!PI{tSso@M0wTB*jdVCQro~3nY2!lu46P@IU-IBcqaj(`B!4PX5d+DzBL{48ikvU!@t$$iX>uPVS5unb
_+Y<&)%BO(2bh3zjTjxpevB*+c~Ky0LuxjsF9sS4A0_GjsChz_7`pqDBXgL3yDmKY#ArMT=IfSWJqC`V^Sdd~SGDFn508vSo`G6o8E7(XPdQ&0QQmp`Q8z2
>TP%_7ZYgQF=(qm_93SZsBaOg|O?)jSsWxU=z%lzhvc#CG+OY0mc{PYmym;OzQ*&PvNqa3+K#%F3Z<aE~+L$>%aQyD`@x9rAuMHT9jQq%E_C*V#$0^zxjDE
Ut}++2`yj#)mKYN@e2xTN=sHRTe_(5^M6SaS^Ls`J6HnZStN?2hsRWWDuO_v+lS)`#IUFX)G=NkdT&@fHBV67$bmaX57fi+d5Crv5s5I_5eOM(A*X(vK1P)
hqs6D^N-#|X3htv&rxC;BH!N}2>F~$|!q<u*T{c82B+!QR9F2;|<apTt!6YUJ_>Jr&KQK3qE2g-ocKopud_;P{p&Y2KLQ%~{iw01smBt$IPvx)*&`*o4jX;
p@=%^?J7`G8DFN*PkuavrE#p@!dbp&G_F~S7_o$+M7PB2n@8a^+5&SGnLjjsr2;`Id75V=p#!?8I8Lz21-u!1^Lt=mi7X8K_eT8`K2aaTY*!Lz~iVi$_KNC
6SGpz(?js^lP<i0@ly(R5X>zZ(>!0Y!+yWFt}dKs?H2f?M#z=z8>;8};@QwA&zfu9Oubg?bT<&aV<<g+$Yk8i_<Q=^1bT^UA_B1me<1nYP;r0-{xekJQhi;
=jQ`i%3QBo+X6q7X3w<Ua4YBnqXp(3yH8`9k!CKMwkexJl@6vnM4qg7RsIU4|!J~MVq8IxzJt=cwAEIl|5x9q+|~T$rkuPG4>cB<USRh<+w2b-&MF#1o(y5
$56Cag0rd%84v|S_MkVPU^E6t`o-h0L`X?`PP<MZ0ExUJem+A)o9ZkIIUt)}uRMl_M;S!e{YZk2iQQZthQg24?2#DKatcE0t4wClsZP<|1s&R;va0)h3Inf
F%}FUlv>4=!DitwVi5mBZy=cNz1qw28$5UKF(zRG-zzZScMNs|Qs7T?s70XFuc!ybud>}j_VriMvga<HA^gEGf0!2+2O`ntlo~GEYBmzx?$%ijPfJEbdilE
;SK}UMnAkz}w4Iz@fN0PW)%Fsce$X*!eINT|$OF%4d2zY6nOnIKu?gjAq!o3T@TmeL|$Jqq2X#-q-VM6X<_gWCrN0WR#VKq?3aXO=OO+<tSekTawz-#-!2w
{1O@NI5-*m!~DrWK-g$Q>q14Uh*JR<sg~dKwffR{%*0Ng&IScprsbgEf+?ON=Ps4N}w!;A=uSXCTmg^%0p&VChyH%+UW9Wt^wD5gbu_I+Q5xI*HV{<A`|Z=
To)$mH;aY#`l~CqDa5jfT{$+zj4KrOhoz}M_!^$ryFo|3KlfLdzy|jKJ&P(OZJj=a0=bJ)SsKsLG{DMLd6#-5}bi_MhoSGWI|hDLQnQrPcYq}Q?55?B91c2
U#RgfZeyAgvc|?yz`Z;g?3O>=kLAigH$}(lCyBH(#Qs+TVY-;WoPvOO1-!@d<pH;X0E2M`+8WE5-mdCAj}FD<|GRQHDnA3vM|>&^6J?EfPc}T5FfJg3zS_`
Yj0wam2+&GpWty;4YJg@ItYC8(csS?J=oxrUYjb%V!!STD0!1beFOl(Y4EvAJYunKVo69#yQJG5dR_K;8S$75ofBO+cAOoiIpkzG*+_&{dZ?j=QlaP%t#t%
pkRs^?p)If`Z4;3)1(sqT8;nt2NhY|9w<r${6NOu5L8c7ixtv<vtO5Gv}TCdQy5Iw}GwXH&uFhiRaa(F?Dln#g;2+tr3IJgiR>QOPDs}6B}l|s?o7!ByE8d
i>h{A3*UQq*c1OSs!h5Ny@T?|rB|tztB`x@k>W7|pL)4hn$|Cd-Q&LR6d2>Q*l$E=-i*7{zj!_X&|K6g41OP3qu>7m#a2elK3N`9~m@{q3m{!TMXNS?NYCe
12f(nv;Hg2{Ak9I?4|)qY%siT1(>rotHF_LxmiD<#^K>7?rvmWa5rMyU%P6sMLo;l>pI^oMBaIZz$BAX*$|LK@EM-@u~()NNuWslbAYkxdymqD$xW-O*}a?
s*S$GRd$+_uE1&Vn1*g#<rNh&L0~R_<lTG%Rb_eO3q?D%7}$8DD!Qg(b#pKnpfI^VQak);wn_u$9X%(8tu!M&cu+f(sIj+-b5(wP5k-%PW5b-Wsod*e1yz|
>s=4BPmB+mFQ=lrN8_!(G<CuyG^;2JPv6Y=gEngTJv}T~3@aA~MUs2Ww5Dfo7qT&y5q&6zchJTk%Kn^fWIEvw0U0|_*^?t<$BmPvNS+0BD0>#`9FJv0(L5z
AT1Q;b6(651Gi{&eqKP>~sSek|7|3>#Du`o>IB}^0!neG;-W_!P~v;@2`)Y#Dgamq_}B`N3)yI~mfrV**}r`jh8RikQrjZPu@9bK9{SI8hdz!5U45ClOJ=a
3^f2*#2hOSIDUs=lTdOxh^al9WWt2bcWN+|twpU&-;((8W_w-tt%?VJ>Plv`M}iXIq2L5`JuLrrJ2wntiW@T89Oj8oUyIZ2#&U5!Q?#wuUE639LYc?h7A#l
XijGoyFAb=();P2F?)<asE3{YIep}HKN^Xd~+n~H0EDmHwK{e^2Gi$Y+TJkM1VpaHb;Npht@FT02`=u=J7<wDN_!ami6O!l+RQT$kwc3b9TDRq(Y8rz<!tk
*;tulz~qdo(tSW<x2c=b1P&JxYM5TvXdsxG3+7oJl7le;RvOkufNxFXEoWv<IsIm83m2f?D{5>FG1H9I5Ddkv0%xjr_UZRiGT}jM(HiSrT9Nk^OEDa@q35p
hb@%)Hs>HD|>R(L|i*juUSN8>!StHyGYM0k6vA*F;55uTBOrRNhvpR@0L8`zS2cQBj)$rpon;e41sNmR23O5U-31X9}0BRGCWK;twS2YGQQvnY!%r4@>5e=
3LQT2)q2#sN(iB>hx9_VS9Y73NV;Hmu!2pB3dZ14=ihT~>6c~(Q{^vVZCFpRE>Hfg}ELE%_VI?%9MGYCIphoGiN9>fh5h-w?Ys$#XS{TIfCE?PC}SY!UzK+
g>9tZJ$}^Y7|ap7}TCl?KyR;~f0Rr2p2&3wDP`_+a-HGO4}{RvTQtf)uF#CbdQ#Z|~Bp$NhId`s53JUVZuh`o4efBM(0H_zQhrd$a%l4H+_e<fKP><CFjX@
0~&K4gYY=s3|YM^+x}9hP?mrN8`t)PR^P>=Yc04d+y1Xo`36qg9ncMaQx`>=ihj(U*Go!j2xLVAu}~^)}q(meP?jLp&yJLJ$3S|^x1jKhm0CIX>{t8oEdXw
FD?9R)i<}_*XyDCpMLa(7v6gH-FJq)|H-4zJ^jiHZ@)fp!0;iXN2gE9?)~x$eP8YW_6LJT4jVsu+T`rF2lXE@WbDV&CS;`MWEIX{`NT`lz4_Ar^&K*J^vEg
Wv(o0iIk4Y|_doe4H6<%^PVTaWU%&g|pihQQ7?UwIXJ%o+%BA0onwl~zwIF-xoaIZu{&ds&pXSe-H*dj$g^Sj%S-W<_hHo~mSiWM#r=NbdddueTw`||`!;k
CMtXs2T!^Ta&{<3@5Z+rIr{@upS-)`NqW5@pA4($8$kE2Jv`fAPEHS0EP{N<P3d-nXc@4$DPzu)%#_8)#eaPaVvBS%l3+J)cm+4sk(Q)kbfJ9qi&ANvpedF
b$ozb;?Ae(lEfva<Pw^A{{!vSj(%b?erDv+>)_D_5@k^z$#iT>Jf&t=o3|@bfOneBC!2zuU5F=k8yB+q3_VZ#Qn<ymi};JNNB5u>a2k$4`6>kJoS9^!=~9f
BSv!z5|E1Y~B9j_MdnD_UEBvCyt%?=j^UszwQ0)_XCIjId%Tr`SaJV|M3UZ>)79CE}g$|{l;~t3-9_Bd4VN3n2IWszZr7Y86B`5jM(K_PSx;YCHxz2ZdU1C
h8~Q;!jud;!hAkAhxgjZvKOCu+%5-)dBOYW&Xv4g7X!a#_$}ex+3=j^kH>py4m`ngQzYX4g&g21&SNsx2TJs^it5A5*2&eSUXP2^RYr^vlA{y<#{3~I-Y8x
M?@NjgaTt6augmR_y*@Yo#<)<o%jvL_Fl?)6r2%>Zy}I2ZkQ>NFf!8jt7fDPpd_iuRhd1mrAqiZ^%e4d=WWyj92F5sR_aUpI7PF%{b{G<n2%kj@y`<A-rPo
U%9tYm9g7_KO2lySPBX`xq-&QTK7NhRq4Gu3|w!&vo>mObNI~BD4Ao$O)M57mguqv<J%?QO4eq-1tMpqLc4g#Y=53I@>-kXM+%HrR$s(psF4L#IKO%!ytVk
|6zX&?dveNK<b>d(!e5e-4lm!L@i%OpiV%TG@|>+h4*Fi9U!9&budPE5;2{&-58<rNB4K=UW>(|k2R6;VIx%hAugsv~f+x<;msK{C&qZVKSEyDN1c4ZSCbq
IPKRw*c2BXNnRcJ6qV>rsyF(YEVM}B}M5=P{YnJ%BSmvfbvNo7EiIz85#j%UIXyu>PyP!Oy!gKGC|N`0ZdC1MuY0(%mKTsX~PJ|suugA2E?_PyhmDald3xy
&6`emrka9MFggabVxS*TZ<wq<*WWi#4~VW&CGuNUCEYo#Raeyx^~>4<S=PWb{Ljf##YfXClBxwz7{B$H3cr11pm7-JpBhSov1Mqw`aw@0U|*?bG=_@l%k8r
hSG(>tX9Ca^G$#?gILxpf&?~L~q4{zpJ!hT2`tFgD-j71TaDLtzzZnW^Nf9uDd{2LC2qk{eVGZxRc0!&rxsf$tR!zX5tSMieSBicqfB|J-dahsdphM{!`I`
|k{1&3VA)_OU>b5(p-!{imxCc${4EZxo|5tdf2K?4}XCM^lcqs;a18ah1p%*)7-xJPr`VDS=*aX!8t)NZ_M)Bj-8;}-^jyCEC$uI$~R)k3KV<Z?#h9$15=t
*xqo@lvpv+#}Dr?>Why1RP(o9Q3FlW6mt+_QD<J7p8<>|DI(i<!fpyOTNf^}M0~s~>sp*v`$LF3i9F*S@c(^?&|e>%Jvvqu;1=_1ONOzFbr=YqIQhUb}Su*
xKnM2lb8rXWi#>CdDX@n|r?bY<Xe!w3G>ZdVf)SLuTpK(+Aftneh65B2WK3cjR03t>^yu`K#sgvNNa1?(2Wf?;E*sWZe_%7tEM23j5pVc3!=Ba>M881N+vx
aAL`<$<cyy@6K;lF3CxoI$`YSp^PHAO0FK?x-@;@<8jBoD;)cJy~~Hb`)b9!?9{QNKh$JO^192e{<Gza+>vkByRvs}R!TH?c=z_T%k$DxCyg6DZ0HAr4U1m
(x*VnFx6GTCGPL2JYga6p5_x#%j%{o5(<V=vICj_vLxv0<7+}mxc(m%$=Y@rZvl}1WyLa!`CFjqbJN-p&cJ{2a5yOTK{c!O6@4fe)^YiodR*Y3-pR4rhU;E
bO4SlJ;vUla!|7&DDw|~bMiwkB>O&JT#m3{8A>;D|skp0n%4U2crAM;lI>&JJmT|Pf&+N5zGeV~sJpT~La^vQ2?GlnF_on0||S{&>8{rhiL<j$HlVch7U9}
XFWuSs54$;G4FmQ8uHwPXK^X|E?<J@Os&QO4xaAAj(^X(@u&*q=SSY171sjT-&_duC>2<beb0*5&1;rj8vubm)*F@4x?E;Kn6%$c@w6SLBWE;Muok>G;@_d
w<$cn3Fa+Wejj<@SyhxzBi!4ibn!2UAeMm&7wt3njAj7aiha={`?nT<mF{#j2JO==-|On$a@0@^wUc4x^A93^lk3o&fJ;xX>T{Ua$w`i`7=_+emr>4d*#+q
ve$j{+==gIPwCR2^yk@=;?zSsHWub)O&K?4*oQ*~LscNxiaW2KqAP!IUpBR?aDDrNl-QHMZC+3?E0uIEt^R=iL6>blpYO_*D_?&3Ws@dNHgDcsQc|*d_3Es
wtl`6l4<0;t;J|?cpb0=hw|jl1*Ds#fI`dB3t-W8S#2@)#>AbudQ?STEgJ?Ae^zT>cf>Dxg-aL11&6?!on>ROZEGt{LZu#;VGe(T~-~*j?{rmUpS2YN3@zw
KZ&ur>gdhYZ;-#XW?TCrkj)(DVhXfhNJS@aLRZoNo|#;NZhG>p(dLX3L-z9w^qQxOG4aP$13?+S;%SnvAg>BCw?T{`%~my7deOddCC#IPa6?C}*HpZoHetR
{c2pPTy0@IeCux7FRZuAbh$VDhlmMO#13X&|}}e*YDW)=A?>!&uctOmXgd`-i4m^2U5Ha6tJLHi+rX3p>A^{!u&U(Z$(yBaZ&QY4z;P)Cpr?Kn@~(+&@?^d
7M{%0j<^X?AA3obx!TwxoK|Z)JfxpA)g^p|NfPAlH~DtZfsh;dS&vd<HvURu3x{hc6NSVCMbXp2V?j4@7K>H8mjO54<otxO%Jci95-U{z+k*5Ex2<2hsD#o
G(YiaUS09%58uqqoi<^t)_$x?K$ojh$*vjJ^>z0xP9OKdAX*|*g+zI8+}OPS^Y-md?flW_zPfhJ>{&BL3?E8((?77bLAK*1=gqS}&3!Ds`1_gl{@S^GUQX(
`VPw1w&??q1BqnpotxKCWcJJug^@Gpz?V3-svqlUbqW4Vykm<4a%Whu2@O>}em5V>g-+uA=s_fy=OM~7IF_Z%7DiS%T^$QY_W*iOg1+-T76rbO{d{p<F>&C
P!I<&lC+Jqs4239HxL@gCx`t8$cJ>|`d8VN_Xe>poNWh|&=6KktzAn14Z_5B<2@4dNmVT03qznec}>iD5UNW(&PjKN*6_tsC}uDj#%x!={I8|&xI&Kf@SLs
ER`^w_zV_bz)b;n@7dQ#+UBPs73uf$J9*XJxs#c>DHVy$&2ul=bU#b5TLQ_g?=nJC^pY^VXH09u{uxWw(6wSq_Q@VL-p?_}Q)l)dAWKr1xwXu_nHvgDZQNe
Aei%t@AR*<MchC8cnC|_m%9~{LrnVe9?x&S;K+z1N!%`PI_p*>((#N+KzMIug)Dlgr={yoAJht8;OaDzy0<bG=0E;0o6^exPN>0tgvzRu&QJ|1Qi#zZvFf3
SbWW0wT@2vhyIJ?8nx`+r9;Q0=H0q=NNyC@@wQGqd-dws?Y3?mlbSZD9h=;>W1CuhLX+0X9Xj^tc}Ley9Xhvf(YS7WgveMTVjH$jPEPK2d$-%#Cbw_dux>)
6ph^y~;jK1%RO2>n+a~vbG~GIO?bx<;VnR%$P4zg+;@Wp<6Y1t5b)%-O+jqFVXZNmM+TGT+d1CD-8>e`kEGtGgP43pEUAu<SyszY@wl89}M#B4TlJ4lyqx)
?gx^zr#SU*0}u6jLXCB@f>BS4I**SJ}0s7~khNv+y8uODX@8Oc?2^NMME#S)R&s9CEvcl7MmsYAO??V2>G6%)bw+z!a&>gCG;8@8OSe$!@6Tio9Lw&bMb4o
zyu$3?Rqr=zU++Lg<fFI}v-k8f$z6sT*ru3fu!Y}dL~s}|9?{*!OOP`d^RE?(psbZ;XRkw6AZRBVH0Ny&F~zrB0ccAb)&)vpx^m35XC-=w*T_NaQzTDIxdt
!tO|N$pxRs2wG;va7WC`ejp*mWYV@&0Dm*qx&7*yR?T!C)SFKU=+fTt5+^-J1V?2vUXzA)?K=Fflg@KtX`~*SKMW{Zd|@tZs)~ruUD^m^X}cdc5M&TuwhIL
!?;|<#n-M~zI^fGg$g@WqODG1VpFJKhosi+o79bu=4ChK&LwE<g$qG<!7Y{s4H`BC4nZMp+qP&C9nEpFeB%ZdLX(|0UKXtpwHvqU(!F!14oS&P>&93ZZ)wq
uOBXLx%vZG8>ojfJy?d9gU6MN{H>wpYFtD7!K7~v#T&P$X;;6FKs^7R<*N&Z&TeWXoCr*IXQYoqaMUv!vWqWjB;?=8Hk2IluQc_ZMbTllzL8DwoK4H@HK*7
@rf@qCz)U|7ewn?qqHA=8Bvd2+Oh2z2nnzD)wCPYH0QwPRrhqi5#lH%el7G&L(E0^>dSCyP(K~7lKhN0c6HDq8DMM1s+(tP=nUVLb6L2cX)gz6ExNr+m&@H
{z5xoSw2Xp64fsCApJ-MV!KF>hKg-YzI!N69T15n7ER8n=X@-XKzS-nv$PRI#GPUb{)Nrd_&q>(sV$`_>KOqhZ85uwzN1>09wFI<}3GiY{La*2|)`R-Go0L
8o@fx3z6pHzvXmjEg}9Lle`4di5K1?$WMR>-LRn#YM4Rr=x@lc2#U5?#DXy>(}elsbk0Fwyjz=kLE$VZ|dWpbdWzWE5<kP+`erc(OnEJzfg(DuvTkA!$w^?
b?yX`otO~KDsEH#D|9&@m)I$}eQn-deC5)`5E4NKLG4;~I(6!loYb~Wi|8m$m2cj-ewk(-Slgh%U}9{8+d8#NYT2$~yr}w|RFrj53`3fDo=-^V+zCcQQk&Q
)3zmL`XqzyES$D7Ue0-<&ty;8BinEG>audZ_ljbnzKjQjri{uw)O_&3?#am+PHg4CkeVg{p>hQ9&_%dN|RpZqXQ?EhCP90l!N@@@np?axuylAke$_C;zm{7
NU$2KiN1fy80C(Mb%*pcSrYbA7O->y|#oQqHpY5#<k9;VYe?K-q?(Y|3EFF8xDUA|PEj@1|&8{45nt5$8=L`A78Do9<d!VWj&xabba&09d<(yqN&osKp9@1
UiV^scSgv6WOls&<>UtvWP}VcpR9i`8s86`1IlcI}$C1>P$+DgUaK9(|}$ZCf`<inCzbFNUX|D>lDXt5&q_VYWQ55s_`0B}J=XF4UxSO%9tk$MS1Xx}TcXy
ZLXDYjYO|lfKR7R5*)OEGcujB?N%SolC3LddsPbB3F8=sJP7G_A!jU#VHEB*I9P!R!Lcz1M#_7ZR3%`>)>8)aY>oO;g)ebk>C^|3<YjLl@$3zfswo}M^RBx
sl(}$7@pI%O=)tk<5r17#=TFTRb_39!t3!A7nfj;GKV?ZN%eRdUq)TF&f;4|MI{aoLc&;W8U&LfOZqBXQDiS>Qd;IhSQEx>Cx~DKT|}i=&3=cHEPG0dOG`@
~5^k5+?PNcdWsI|4<<@|>sZs`1>Lj4>1nR>^cI{NvzzQmMh&(-}>T^3wOMrJSpF$gN)zF{ljts)_ltM*IonH9DO8AW}_16(A?DKk|M3>Vgfk}->P>A$Jz=i
b25XYLktfZv0#Nn1?)?%Y5Q{+fnfCmDB_Ms~sPA7s+5iA@lqP0-QRA?`L>vNPj%1T{$>dIy(y%&I96~xVfTq1BuE({kyJQRdw!Cg&y{>PLKJJbh8JM@9mE0
gY|^{$vR`rv&&XPKjvNGPeg4hE!SECmVYfd)7ojuNNaCo3oiy6ozxO}@(FfS?g>H$q3jAK1%?D<T*tn5sxjxdzJ_huiDJGDQP(O{%(7Kl|Knr_<||Wu0{<#
t}HC5OG8Vl+ED<$&n&#bVu0?Q05CadX=L85UipIx>Kc}+>**f&e&$feH36aRVg-#52uNrtT`b)WlkSha~7UOK9nm7YUFYNvlS3p5EmTs8Wxa$3_^Qki-l8z
)Sd{D%jNXAWSM8F%0M6+MyXs%Ne@eIkWr@uf7^*<<36Nfg6pb+H6GA?ZVcH&ydP9ABE3PNVq#Ttl{qo8f~7}7E6G#B$~avzhojPFHISHsRz_7kF1HGAag1D
LU5y%hyjWjV#oB^IiY8>T5YS!NERVC)<&j|g>+n(mkY-^B6Q~`K4pqU<6|r=4)4~i+^f)C*6JfW&LXJ_Y9)p#28%g08=ZdmHHwE1;2`pZlMc}kft8%=88kg
Lvz{6~Xg2x(i=L?C8M*R7}8-?WvESZV9zOb3AN<PWM^Q3R}t~Ig<<<*4dmU$$ObgfZ%xMk~2084;jsIEdUZ+K+~ikM4QWb9kfka}NrEgXev>Ihv=g;O##-^
=ib=*H2;SF7pT(3K^Di$ptsp`5Q)db%;7vLwA$g&LZ8wC&-wyd3LfiI1=ej9l~5Rh8$l{2G+*&x5zK|021ua=?HJjP#-bSFCn_2ZOP57BH}Q-bUi;=nd9ba
RN+bMe`5uRw5x33abN5A#$LVC<B(m07r_7Lg7;3u^lu!kJxcGGKCORmQ_?v2jk)}Opu2}GR37N$L;a%BaCt+whlQf%<AA+^k_CGYPh&8#Uzkf{rs2_BF{lC
sE~QQ+KNVim;k%{h%F2OEG6)eEXUI0^9sjv0jH*vKo*iXL>huaU<@ca6^U>2pXU**JRa9ZuvG#X36><XlQiC_EjejMpic#`tns!UY>N&i;E(s$bH_JidR4H
gF?wVUFK8ihG{Q$_I6a2Z)B=h^Mjz-wSbC5fs{`zm3%=(`%XqwS3LeQEufv5g{vfI#?iY&GM5IEY5r8_rnHrFeHcuptL8fRGr#Ma(+{-+<<_%;6rAbkB2r|
|WcT@570Es&UvBl6=M&bghuLMhD3en??cW4l!b_u-sh;;Bn7ZjO^^p+~I^nfHA2yIj4p#dz}=ffEUuQ&7ek3WM@hemJ!dkKt+>IY8?(dM8V-$-VFHa*k|EI
Up$4LB=;2$OzQ850nkezz53C@M4(GO%lDzmgHnDR?`WcJkfaWa<?bIT)T~T~o1>iPixt*heCB{pD9C7`o_Tbr9cGky#p>=Z_MsoJ}mbBptZ}HVV<pJZC<N8
<-gJ{CEtm<X9&7fYF<P5yFTep*5hYE=MgcD-x&YS!I_J7!&9gN%9hr)PM^EDqDp-Qt3h9WRPWlzbIkIvcHR=e2+xXfwa;?v$?z*ol`wNjK1c|*S<QFAhBZn
z=9P{0}){s2;3&Zd~rIWoKiV^5TO+o96pJ392<l`RrL*qDswCWKB6FQ<*~a$vId*Mz?#%!08RwRO^C!4UsWbu%d+Lbv%+)b;cSAdavgl8+G>W}-t9&(W20-
U-LXgr4r{s{D~#htFgRiA_ag7Pz{ZE~%EY<O4XZenL}AyU?szYy)9q8}DFn49Ek|-XoveOxwA%hyUUgvw*vd3iSiR_Q(5b8DHY)4VW|e<M=u(8G3mBL-ff^
VVtLDMPriwQGjz^9lXIn%Kw~^pOs=Co-F(!MK9v499M`8m~Q&gcSWymhU#uC|AHIoDHcojJva1ccc(RO&NaoHic-;w4n<29+oYSSQ7jJp=V<f91c<cNiZXN
~x0|H$LX{fc;tCXL`W@=(g_HGJ165lC!;qCjzn^g9{KpD3kTAD3NTAFd!J0&yfs8akDBxE0n6HdY5!VCiXo!a6bFNUm{UT}N!N@|+*U$TUgNSa=d^O+I2Pj
N2nwy<WID(BZYMyp|CYcruk9o7KYN87h{lfqfOEy=34}+&6-o&G?Th=;v;Osy<{nT~$*MDFS$}Lu{GT(ZjGhI2LxNCJjL#XgFGV17t}@^r-?*fts8~2l4da
xnhQ3U@KL=x&xEKSZTQbL=RMb;Fune!21MHN(IJ`f)LJ0W%>xuu2H6Gl~<UM<@&RrR;t%W#9AUCTuJ~sMYRkApK<Gfj#~ujdC|(6%rsuRmzrF}!d2)yip?x
qIM&}pvmHbL-FcScOLH0&kAA*G7jX~|mI;DqK{}b9l_U31^MRlzl{A>8XP+3A-nYRp{xxt2F6*b&$&o@LfVyz2LAr=YAj65Ao^vJE0!I&$5b!V^AEDANC)g
<r9}-GL&z)!x7>+X49kO4)g&~h<PRr!R3Z4lDm=eZmebjqCii4?PP=;o6g)9_u?+V_Jsss#&YS>e(U!H@aaB1EEat{hD-MFd*C?J8Lt+j&khpp01;_10Oau
BduY5npAc_`GrHP1ugXbLJCc%uSS{f;#a7CI;RQ5~z<GoZ43Saa-KH6+igUYDbHh5A>*F*1qoNzks9t~Qc{K6Z(K%ZiEf)iM!L3vsFruUSI~FuKV>n_g`T6
M^wn3Xxi~()EogMX7muT!l-@ze%puL%W8GXbP6zFHa^>0zXI&BWsubXod+jrc@1e#SE2eSW47;hqfm{e$^$N05_78bej8^9zv(k%le&T<d7h4zXzC~8nUe_
nMw;p#?Wv|XpW3NDVFzN6R)Dy5|u(uSH7fD6}sW0gtMShb-4m-M6X|fJxQ+A4zP{2i_BT=NTy#hNQ0@L8IOdjl^8CXK2nW_u;nIA!#Jck>s*EEnv0~%enl~
^{H|QQDTo>|+=%*61MZwwtB`rjlrDNGk_uY|5<6`l!Lc-h^aXiWV;6R*afx-+NcLpog2fdWG=U?h(9I=R0lGpT8`f>mqSVT^1Qk`oXI44Ju<pWykf%sARBf
28-|!d9)DO+zW-pxq83U0jTud9fqNr@^pLhn@3LbajpE6D^mwUg`yA(8+9nUewY2#psm$>IsX<t)om%<pZjQ{9#$nZApWHZNBOrwUH;8jK+cIF!^Ok>-mu>
>v@d?vNmwS{7+`m3Cd^UH*XQ$$Wr>v(wOs~bulDMlj02<7S(F7}mXMCcPa$FbF)M6r`}ZA2F)6&W2mdO<NGkyfIS&~Ia*a3UNR7U(I9yApJVNhmJ~p%_HmH
x`j>n(!Q3zF)#>9YG)0pgRJ_Wf&lCD$7%B6<&knF!gM>j74Lg$}P{=45t>Cf?5u2SmUp9qq|zRBAPcO08%h+jHy009m`tDJ~c1Y3?vpRVMo*xPGH09v?{hC
Yl@W1MSuVcY_+DD@?^18P=nR2hL!vGhAuO7<cQHD$Ba%H@yVzOpG+K|`Vss+X41s;PbN-Cn~;_|YsBbJCXP;-kTz<<_-W&(O`QeLGEy?qawn!w%bk`xYvHh
uKOXn-_;FJ{8armvm`N!a@b}blQ>SE&nLKIwq|Ee!k>kcp89Qb2^wE=2GE*|s^2eo4nK@<V^m&uBGUsK^$zNqEZyJ_2W^zi#q)d{3&a|9a3r52;C@*J1dMb
RLxnR=t^n#3noW<$+IZJYuELel(jW^26m_0sq>a3|VvmpQJkbl7{sLRYLS<~lEnvpp-1InA4owXpVaPI0E3+8?~XZ5NdhK>4o{HO`zrjmM2oiqdfChdfJ&Y
Ci7#{7@RkDZEjhG$umXJ*bDpEflo73wiHCu`BnMf1J_{-i)1Ge%7upFTb<HJ7$Cy<lQST0vTV&WcY`CS<_h`Qy`5^HcL?ElZh^LF$n{H~;gz&z5b6@=_;En
>uq`>SV$fy`8B!Sqo<_ocAS^mz|oORX8Pk#)7N`bH7N-&t8(fq;O5nvIQF!uK(g!C~ta7W`<E7v=iI?X$It<|LOAWDbq9NWX#T6l|Co$v)olnw@ojc1MOb<
!<?@_-Sz3NZC5+CY@OJmZiA?#MokkM#nlp8)o&PGKQcyb41dS-7H6Bp#<7Xfact9sI+j|3&6OAx$3!b!aRO&`h-K~zZJRW!)g-=_*s@-O$odh{a?@Jyo@jO
9-%*l!qj{Zr_Bz%GZ(>xe5~Fap>R9Y<o7;CK%BNmauNR$cSwAtlUPQEl<;8KLqXCp1DKSOyoTW@CbzNu}t(C`<@-9Zp>@D?X>1n>$dB$<}(!nMPwZ(YB;;b
JLB}Mv_>$L={Q*^p7MS7L1^0k{Muso~FcO_a<uVZ;uhv$O(;?*P4<r_zC9Q}J|`=%{wH;u1jX;m*Vvc4_K*DRr~Sc|th>szBd5pMZPi`w;Vbu1C?#E2MQlv
ll0Td+ASWu6Omhwp;-!nH$f5*tM)M#d=3;%oB>oLJH@Dprn`m>UU<P{bFNooXBt&%~*GQEkpzVkvQ*j*%Er5AJ%&@sbl~b|GIAusmCo*Y1|C)Z(nz?(>+x2
lB5Y+MO1M_hO_=zT~@f<A_k~!ge2UoxZg1(jP~+LD@3!@;WK+R_WhSKGN>v-1Xw)#V1bhij~>x%#Grc!p*Xir6<q+Dqp^F_{Pz{cHaE+uN{B=uxG8q>ro_*
5#hHiu`2ITW%wl6JP6+-aDq$nF$&L$Zj1ro7)~P5M}k$tZCseZ+?Yz>t?(Sf2n70EwD}P32PR67BD0LZi(Xm6wH7O5JQPf#2+#&Lmd}eYVOG)ZMVKU!w<ri
ZX17K_Dh}VHxr;U|4-E!J#9OW{7L~*BBUm<Zc)HMPm(b?HsBb9CVz*jxg(wId)S2Z4t0-ci4WyQ#PMl~FFlf@lNWKz>4_eH#7N-wt3Uz~ea4fXXi||KaqPt
}uWW<SXnY5pQ`p|l*==)P8w*uclo$$Gekp}d+=u>3kIPhYC7VyD~8`+E^;kppa2ZWh(D?V>A<c{%Sz%Lo*b)HuRR)qFh6%r`Mkva($QH1go7V3|7CD>0SOq
PZELv48x-Y2`{@II~`z#zlj6EAS56xTFho#Fb%jqOFA^Qz*I+^(CxqT(|O4b+y6y=Co+9{-&M+P<rf2BheyNA#L5?KT31DR-GxIkQ(at{70Y1-ypgMN22q8
UEXmG)(V+I0{pJ{8&V)u`Q?9PrGwUq4iS@Oe`JKOFP&hlb|R?@#t#;j^zU2yLk<-T>oAV)X~1@1b^t2j&&Ary`dglr{8p=zc0|}Di(twKon)ewV|y8HH0Js
NMFZ0;|Y|U_B{zI<Z<{(`mHQ_G!i24Y44+lK+^I-Og<22MnWePrh~F2PLfI(4Ihoh<Wc_vL$_^Z^ZHx+tkAe2dVP@*Lliu{QZc=vr)TJWN{Zp{(DNmI#nKC
Y%73OFF&vmGqq(3|qyD<g(Q94E?x7|m1b2+4S2ZUG!_w=VNDvpRNB!wM*Kqa~9h*$Y-PiHoG@lTuA8$g7*V415_i27696BvMjn>j`brQ5|-Sr3@Ub_{Zmal
(SWo-dVeuDy$80v6jdF}RaJxYcrL7L<m0&+F7`7`~^3B<3-^HH>3^uk9yG|w2{6h@3V;`HY_&YO;%#u(`78uGf|<*Az2Ci-*TCu%|nGp<?G5c(C9w~=6znQ
tD|ortRDiO}S&!gD=fkdzZ7y|$VxUq4RAb~9W7YPtH;ORP+S9in~Zo>L#PVj!(CjH!J*tsi4-%4=A0rspKFAJ~rOuS2_)Yrl5EjDIf&CqSBB^E|84yHEFiu
J3@6eV=~n?a}!;lRxVF;?s{m@$~EeH)w1|{?dZ~d-|Q3YxiwkJ#XqK|9iFfQ%^n9_uWw`Gv|K3amUpY2ez-unLO&<7oU3M;ivyMV%(IhW$U-@JmPhgTsn99
=$54gSySJ7{_#g2dHl`(gFZ+rT)k%F&O@jE`E%xf2QJ=Qboum=pTAv}J$caEFFpVKi~R<T%g9~1X7jFn$9#^fM>k{-dah6Zl*QldK6P1DB+2b4y>$NMj_;O
dr}uyL#ooPp|KETQGiEOOdfhLFj+{Arp-h#$Wkpv`?fd?-g4E&vd+C{HUK%(qZQk-PzWw>nvlkrNu`I9KQGEII?ropVo-yd{7kc;Z(|_>f897VV{CM!liL>
WR9WJ-7Jrtk2toYW2-_|ZH$R6?9lMg=7d+?MQGqV@}aNyYSlV?huF1OnkFuQs1h~C8wpMCb(@&Qjj@x<d#3>rCd<j1Ri`SsUd_m|)^H*Q>({W5si`m?eRPZ
ys(`s=1;d1HsZ)Ax<OLq<-`S@7j|KmB&>@AFq-SOWvEpFh55)AGEr@4fZ<D{p={AwBQY_22J0bmGi)r>03IkF)IB*;BjMtS%fr<lR?aes%DOkFyso|7O?jB
WKTF#OvJ2Sp$!=`0D9{KdzZS^@Dz|z5c%uQ)ez+{q2u`9J_ec={5O$eZI1?3m5k6S+#1^sJ?w)e|`AynKM_d`uXRhN6(*kIH0vYDZoh#RV=%C{=l}iOH=y4
@xt@3eUvt<VA+<P2ao@Ct_+xi(S%9`Z<5#RbY8i#W5<RKg9pF%+KVrK^wGqLpMAD#*B^iUe|t~<9m!GNoYL;<zO~xbI{#1dOMc>qnD;_}<nbOPc{m*2U8x$
wO9D#*IL3wq6AojXtc{JI0S9YW_pv@XyaxN(#(QaXOEa3Yr;k)s_ssNBRb5AqB-<)%<eu)T`l{-yufDtT`C_qJb<8MrBamLot^etF)BpR;`#=4OkALd?rAM
B4Zu*tCZ*5j}GoU>-s%3~xuU&cSUnf5G$xnRz{>cY_@c5PGm*2d7r&y|>o94}+kpkzm%5UAgKKHXr|M0Po{ncMz`1gl@^up}&^>-2YRcs<A-6rA$sBLU)%+
Ai<ci(;Y-h1!F#Kh&xmtT41mHqwwDjI@8w}`+_OM4qPUY~m83xD^Kk9_<~5C8BNQ?u9paH~*(P$EYSi+P1ft+uy!`}Xqk<m5*`dhfjtJn-0K&pd<rh0|TF)
#|n+wso(tb?4TN*Dn3dU;g=D-22s^JbC%@(=YB<%5cSW$1jCLm*Hfd_$V$9;j)j58>eUQJqA|t4ts#H@5UR;zj*wcU;g}k_g#44Ti<))`T19`zjt>lw_n9;
r{{04JPtlH@zBqg-`>o5unb2zm2=yxZ!G-k$x9QT{mkE=|I$DI*X3Vbef6!|tLx<|a%psK11-Pz^!*P!`SM!D2%;Q9)7;iOuTMSuA7A;xKYe!cf$#p{>0iI
}*4wLVWrWeDMYNhg)F|%0_v-X>-<|yQ-~QuQ9)9!(PrdkucmA|m(sj3vO;MMk42*lPEicdg3reT=<x7_?J@?9MuU#*e%P5#NxI9*E|Hkx#lb3!p{l~lcnn}
ht2uyDKomXc6`{4&BE`IgW51xAN<=?)uw&CosF#NVrx;g)~&wuU5i*Mf5jVOdLjA}0T#&2Hw#=lK|?sH%N+C#tm<!@epqg1NY3@aL$(CikrZ@u>HHy`+d_N
^a1HGAzh@2r*46jA3WY-}zSw*PSbKOgzx<QE_O)-%ul`t|FjvW{-e<i888n%~}d`|*pP`sDrJ`T4JY`G3DF)zC6oB09-!R6dW&k5NH^#HFB86Juk3>&EY<e
)^qnKm5a|uDyO^U3bE0Xww6Cdw%1c*PeUqp$8xQ?&aqfuD`djrPoX%))8m7xO4OOzyAK$AAIB|Kl{JmzH@5>5lD-FT&AuUZ@v5GPapio*B^QG(dpN(zg5wz
248)Ic*WftEC2K8_rCw+^RK*dW3!5{z!lMTT2{Gy`}WgMKm73bzdt+s=9|@Om=H%bQ7h%vu6+9|4?Xt6?ED`quEVBSLA2>XSe}6eWk}^zF`IgM`>iX_UVeV
*tvkCl(-K$nLWU!^zVa-hv2VXuGbCED%}Vb2<)1&j_{zJwY0CKyLtK91i6^F}rr^OPqhYr6)fcb){<fjudaUaU3o9!q{9j&2ZNB?@3_cwLM!J1q_{?T0HF)
;iojZ3|H*>m`8XP%&?w&upXJfNAFg~`wv%ZF2?3WU$!Qt`od(NFZGX@W`z4g0y*Y0i?bu&G9cKqDA@iV7K`;i8wS}kqfxpQar=Ei=ZTpJlXbLO6VV5QNa-r
n+hzVFN+%H_Gc4XfYT+$ou<fuS?w<Kt(?MuuQ@qrA0tcds^Zc6@BOr^5|y(Dm}x#_HX>H`h0c)!NAEv2(DDj|>j>ba%BmCu6m+v$3{zcVlP2n(9A&X8g?9>
5+l1&Wx9(tL$#At*+f%-^x{ukrC9y_~`IJA8ey7llGolu*V#1ZT;59Ua@2hLFmqnpC0V*>+5dI)Z=k{#(GQNxC_fIl;9<Q7D0FRG%O=1aYlOvi&%yAp3zR*
Wdia$>+5&!ZtWY1zJb$Y5Z2+LzMjrg4Ys_nv$?stx?RwdeWURGX*e}KT_^p6spK{`wr<|qD3<i0;nA~a&z>0`9_WUH$!62_aiFeHTC1(Sa-wHsbnG-7Z*Rx
ROe)~vP_5?ko13?8ZEaPngM(*a85!yC@9IKvRzYJcZdWht?rhz<4Y?M5050&@=+Ho4Z&#ZeK9(f9QPgTXJKNhgZ*Fhra${poC&R<-?QSPNv#^O7mDSr2zpU
<|5jX(@-JK`XA>$6>F?6{0+c$3A*(z502gk<7MurD_yE?O3>cx*v^ZDIdH&-Dl^q)QrQE#xXyEB_kr&)G$8wJYMa=F}%8#ng$_TU1;-iC&TP<E91Et{<4&(
JHm+c)m4?NoY4M@NT;26{UiKqezyz>q|8<HnskdwU}zXU>d{4i4gOxo@{bp3}9`&0A}mo4KJg2t5be>#?1jMnA`I+2MD`aXEoYT}5c^bq%(Av7}Pi+uPbL)
Dqo&!=s~cVfwo}Pn~Gb)KB!n-fp#fWOS(KRC{n&p<7N$x!m5`cA=#A4GuwgN8uuMb>eI@E+W`)HM&LyIx;CD${7{d!ur-uMepl}GY;$bc6PL78FPlft`_(6
8{4^}(K~|c^z?MLMb0z!(=6ok`PJRMy?r>?(GiFlgYDSgm0;DhYx#|0$KYUZM_W2Y#Wxeuwf*(=?NYV7cNlK({+`YbXZS?Ct`*jD-4Odb(i~<~xFgG@;_B*
dK0i1#G%`Fe(2r6lr1{VZ3EYs(ukTbl2L>T&?C!`4-m_|1W~H*adN;Q}FgP+i)Zf?Emi9PIa2>^v@WPX6d%tfOPIg~g1Dgd{GFaA7LHIF>$aOnuJ78HRpDU
Rsdio%xKABFXA~q}{<2!q0y`yVjV4%1A)JYrw$_X0IB)_+tuXXgp%3Yl&vuQEQJR((4F3<1p_xAS>^!D~T8Kd~U8ftr+d-{pqzFtUnGZGi*B8s)Sxxe4j)8
F6Ilg)}7_R*2C1yR3i0G_+q@Hxckv9k%wAS@_4o_`cpIbY3ob$21UBzbePxmzf9boO+1W-=+c7IIsaQ$3J}NlE%Nz|li~qz6rZR;qzyvE0^iGOfU-+IFGP(
UDFoF{zdIl)6txx(y}%N}8GWOwuY=YIdd_B}vNQTwnV}TLzKu{X#{zQ*G@ityL0x|JJHSNY#tws+np#ffG<9oUA?YI7gYO_Tei%nLT;xB&?E7yQyjnqfkht
QC6CAX&-XIRV$To`mg7p!mL@z%pz!z=QEBnFpO%YQYe(FdLq+?GBDv_Zk&k4z@`n9sjFPvFBB_A5;o{0x<OW_rkW77U#%8OrApO?V@93gqtHNl2xL~Yyc|i
brk9H4a>Y!e+!-0?)WojS1mzp{<}}MlX0+PTEn9BfUL*R$u~n9g6uNf`wO*}2X{%Z@;pnr@Oq))Sh?}8Hhx1da=oTD|lhvs1Bi`i1P1rW<P`A)%(An3>;^h
R-xOTUij<j}FGvOr7aBQZ&5jgqPP-95$M!_g3r<dcRiWf9AUMH(r6@G6(^l8IM>73w1cXmjs11DUgTGe&iMtS-W;j1U(aXazeaEL&vmQhG=%1NS!-R8r3Pi
HP5N2S*cC+~^toNhE>Avrvw2}H1@(rsuL+Rey2mY14iGp?bu5Vn(xqLJ&#Y8Z2vZjulOtrU*+!Jgl)XMeP7obBd_vMj{FJ1*eP3R$!nC;DC6hKa)F9NUoPf
-UNq=j5XBdNS8rFe+)&@=P&G?WG%b8r|Jh-{TEL#!5>aPGr(DgS*Pja;R5phLvhZj+Cip^`=78w)AQ;W04fn4qodu-7u55e>XE=qrOc$T_M;ICsWzBbSBZj
?8qC0vAm16yA7#JwjR0b43~6!Dil?X6vS4BI^LNCq$$PM_1X3COq$*l(Loyy)a270+Bh1-wzHT8b1~VpEMCnY+Cnz++o|KSC48?ds)O(QYmjT<n^H}L(2gy
$9&;`1=!rt=GR-V(;gxn)qNZE;PJ7dew4pfoZy8CKG_#hCTD_LYqDVO>$X#$|oU4@WEE1#e+HxXAqqbSK@O58i6k%gfEX#6eRWpJ~v=Jknb&;bHqATjTTwm
L|rxGWVjq)tnmT5`B?T#NEjqburHDMy!XqlG6?ZJ@8b;d5$hHa&j7MHb;wYh9tHlIb^1>06nNP%t&h4dM*Sca9v1`@Qo=zu{XRmlWoW@<Ilu-(`<y=GcC^B
Fn~kkKuLohNFh?Pkov1VJ}22}Lx)P9j?y4$MP5RLxF8j>O?_(8~mh#KM*!C!HAL;7sJ+Q-e%M#)-l<-7tQ~?Fe?HBS%1#mk1?iN~av&6ge{`lGrs2f#U?ky
V?@lZ3Q{WVV^|UfnLMceP*)FG*%v_*l?3Apg|>TR<e;yjUe1w4yR++-DuLtS;0!<s|PX-ErVquS2Bk&bFd#fRn-TNlgXvr^V!)PNjD}J1x+}wlO8hI_y}!(
G$YBR>r&Uq_+-@+H8??)?yO||!g13@(6*h#Y>1I_1FA_HmgZHL*!L<8rw6%VImz=F>d?C98tNjQMl+mp(_^_#fZhN@C;HG0`NV)Xa<_$maSkRNv!6tmfxNj
gEEPzDwZvf*2>wLcotI=J^}@w*S%b@-s^7*M83$7LbwWc%D3z$^x8tOnbtV(BC8*zKemq_^kxO_`nuwH<OsB;aU_MUQ!z5%HI$hgn>^OYBJ5m?2kr<|fhs}
k-UqGmw?Uf`P_4s^jAUMV{|Cn)-8Y7V+YIJQk=LWt~S+BvCl98JCMkbat#%$BcticoMg5BP5O*9&`#a*{XvdSLeZ8~XKtnf73Wmj;L3`~*h(?^S+MOcL>Ck
Iy5FS^C)KHzS2Qh;#l_Z<&Hgv)4qHq+_}a01x3G~?j2d&#jx;5}*q;d6=+@yW&MHc^`Zg<X$%w&6N(^x{r#%Ei2TjHw8lgk!7{x{19_#is>(Euyupq1jD}M
r)z9O=HTNl#jAPgaM_ettaP`TA5@m;d-~q0^xAFO`63w{B%NhGRMklGZRqW#axCw=-E`wCS=<Y8@**&sg$HrG@H~dTg`JIoi<IiIK4#Dh#^jIer|SVacN<3
X>nn0Wo2n;ZgzSaJ}<z>+2xhR#o3wZs|$<s^9%69<>kf2nVG9s7nb1T{Ok;Tzl8oS!QYpc7Uoy3Eicc_&7k^=iwpC!PJ8%yVaa`-ot?f4Yc1gRR+g5Xc9xc
w7U$=#y|}yr>(4A-gWxRAq331z{q)ibYHw~9y`P<%#_tyv=jN}yynGEdJG*jiX&LrE_u@+{EA#U+Gw2z&_Y!Vz8o`O4(fc`EA3_Xac=6?HFTvqWK^SJ?XIJ
JI5Oh;hbMrG0>MQ7Z?&_7PU!y)};D4asuUvUyYIc5lc6w&&>fGY&!Yq7&zJv32WdXtn>%TAu+jHBUo5uBLX3#VG9oByVKEqL6xjMHnyMX#xSVC{E;(3{#p2
E+tr|HF&`K7B@UzkGe&&*u8y0ARAcy)Ga2K}8~g46o);!CjqDYOcxfAkmDpMv!laQ$Um{{^Q$Ubn@oGgH&^OSt~h(#uP)-re5JZxwR-W^T8%TP_&rzw@<9Y
OhkXidHSVk=v>4Rg3mcY2Vm4DydwpoT{X)Qzg6BR%=Uku5Q8l`>_5VtPj6||6POi(|hHjjq0!Gb}M_8Qevl=H}bG9te>u=>{CU%)~;t0o!f<6tzcBsIoMyx
HnRI>HB-wbJIhJ)gn1&<Q}3^c`h&mgZOQIb*NH*vRJK3Ub82|2kcV*T8Q2HvuWjGdvwAkwRZdzb&30TL_g8@L^h}~dZ%g$gyH4Wz>F$$*oB6$JPA?}Rym-8
*ziQg<C?yQof4XP4QcRQ}ECow%)3eF0O4{yBbhZzm`q{qDQCMHk>3F_u^i8f-$yCybPFUxpaU$Id>nG8F!~W5DyDFJPSE3Wb-_bUZ?e9E|<_f`8A1~|!j_>
4<4d1u*cb$g)b)f#tlbOCuZ^uZg=hVol;lA+`L%nBv#)j_68`TVg3y${`tltO6*PH6@7`8i447K%lkGcH~nWwS?>E4b}`0wdc!~NqYNBYKL{c|-GvXoAtI6
4%}ltNK;P|9g@o}ko*{-#qI-NL^ltrU8n&S04lJ{veXFP%kkZIC3Uou^EjnQ-bGC@clmuOWK|{Ka`{)K9?gvnVmS>3oL*nc7g6Z`;XEh`z_XIc^=rp&%&+{
^JCRpkTHX$_VM!hhizLpKWW_PvG7%S<AW5KIMpHnY0@vVPUvot2&CqgMHNDFi<!O{GjHHE9H2QS~h+{cP?Q26_m^C^J5ygzB6iEAIC#r9Rcjut&aoB(9wl5
H6k;UQ@cJNNn9Ii%xxT-X5sc+)){f`2`4PeGHXWF)QyTWY83bAh|UQ|_QHBFBzV|PzDHy~L7{{2;6&-Tk(aJsGAeoj=Sy%!R5u1JS(m@u7_q=}q8`43K}kC
a@|^lfx4xUi0DXt!mXeM7PIi%ceWz`l;@*t~a^iuS=~|pAaZ~#^`7;_1DK~T_$*7<7)Ngk0w1Pwu#NXODN4XOVXw?(6U?Is7&MikKbDrzrY9^ZA1kUnPuW#
0)8l7}!rqg8LxgO?(@(07U#rLfw8{vg^JroW#gkM>1!Y0%oe#XmZr{F%!Ld<DT)Pv73ymq}_!bEwyAfr>a_@LbfaUlcWrs3bLl}?^Wwr4u;Ki`^iAyDFOkJ
57Z#|uZK$Pf9v#9$&<;=<7^kt02-fFDq~*eJ>k5L&sYSh(>x_)Z2VgAH6bE-DCd$mmP};o{+z4-l=88V<eM#rJm+o4gOy(BG$JVgmo4TG5V6>;)W80egOY<
!G)KP$>fAkFnRoFCR=qJxJ7uL>fVu!ErfMWM(yaJjKW5xEziB4BQ<_*~0YQ&Di<$6QuEmNDO$WNhH6*OOn{5lcIvS61#mi0Njfg@u3hZ2;z?NF~R6V5RWC0
Kels@yHn+jD!SW2ON9>H0~>PkTNRv)m<25c%!qN8L_p`8K<0GD%c;>}i|O=HZ6ju6j_-I?svXPZO12OabD`YAVJxgF4ya?&LGNZJ3LM&oib;J4LL8`XiD)y
;kJ3agIFjFB%}&%ja?P*6LWnLISu7xKTTN&z{DYBh2>_tNy2&z`8Uw>bc96`jlirqsiZ@;{N{;JQVll)NhOB8Lf3I<gjbb<!6sslIsx`a<$E=A>I6qb^Bb2
CWK>cKkkKK)tEfZ1hs3_stlh>-rm9l2YOtLz!6Bn-}qNY;k?3B4fAibNZ(t?!gBCgq2lo?uQF!X`QP)abSfyNU@G0tKwM#_K+6Ca~^AF1{B&kq-Q(YWxCmr
#l0v;yf<RJpQ%*IG|Q70^PBaKu71;%P$EKy)~MDM0dwk=IR#E2&%PhZDVmRGSkIr>m~R@lr%JY*f`89(iQ`5PG@A#l(C_*YpUCI1UKncO(i+>V#vBSLHzC$
BFy}pG3v4XoyADme8k!wC&O0s+_rO{R2yZ1Y(h8i5Q^?LQG-6$eUGaHX}~A0BZ!~XFc+aC-upBx|02V>PEKu)H6L7JQleChQ+4SeP7W3gFG~7YONNZNRsUd
NtaP*uRK@6P{)dvDu%syRiSZBuDo4RSq9(}16fcg6CR=N)itTDaNUR*rCXp2ZwbeHl#dz^AGz_isOqr+4rIh!`k(;*06&YxZ#U9BGKvT_AUGs34rc0j1r1z
5)-0sSkvV`uumhew=GM`qjwQ|G*`qPNd}7=6{!s!2b`8YiMorlSB06Xe`wLxH7ZeC7^)*-2mQt{a>1$megxoNgje6Hv)YXVn{~VzTZRI)EL}*13%56Xj42h
8o7+07ECcYy@iT$E~*>V<z+`ZK4A6QxmZtYN%^?*ky!qbWhxsCyXBcj=D%?bf&*aK%6nHd6+)Q>93fpFgf4oxf=7)CK362ll6-M7-AgyEq8iYOO4q#8cJG<
Ph}=qRXKXUMQT=K+lo=Ab%c^-E}|9vOfWZ-K_^W$cB5-x-R?;7YK_!9ID&bwGP7E3s<<w-+CqA*00S*xJ$l#eDi8Y6INd4A+cNfsW>Z8US%iZPLaQ%Gi9G7
``(SFaTk)a3l)GHBaI0<uy=RlcSXCUH}m#n1-;InFJfI#$qVAImV+$RI19omtr5tA$1$z!+;h`obVwkEn`5TSlHSx-hcmj_|Jte-hci){O1CGhJVq&=Pz8i
7<@+GqTH2@=ktVT_!s?)($D#xFJ7E*@?KtSJQLo-|GwyZ_I_Xgi~dD9*22#ho6i#ylWq#U=Ck|P&CfO&8lN+siwI8Nc!JL~_%9IPMKHN=5#hhk{GB;I2r&8
<{q7&%1a*9kXXg?B?mkb#$4Me1)cC8hp1t~@z_aFm*8CAfUdk){9Q+H|yCU+LIBvo5`JXkl@sh^}WXH!t2b+hX*R;@h_8yiYpQNCm75LsI)`9n7Q8uU-59V
>ufJS&9_K^yF9})yfmO+g?o+$XqLL>+sPaq_ZkwsGK__V-y8sCHP{D%bJ5HvvT@B|I+HkM=fu=|fC00U@2`bZ<I6sug2{D`_3H@(IPMgdTVPb1KCk}*t_K?
@qy8h<G+d?X)8%3m&cc<Ylq;-a(~{xi())5)}lct|IqJ|NWBLIze3QSi+t8GkjuVW}yGhU?RHSu`d+O5a3sxZq>@0kwa?qHFFj05ANE_)5<DRAr^g_=CH?x
orM(IQYIv2Yve*h|fQ_paBHmgOJKH{1-&LC;bgJA9Az~u4{lMdH;f7JrL-psbD1UA&&wQ5Wf#l+W<G|GXe+T^R^%Q-M_AW@AEoS5a`ckOM#auXlM`toj+!>
3>@_V>#&Y8#qz$V`DXj*BJq8s6Havhocu+AXaJ%q1%%-9aeKl4dAL<Szv?;n8CK@wRHw(~xEz<`a$JtfaXBu><%3$-ZcbEFH~D7{{|ttcchG%{&*PB#6?3e
7K1(rJ_4%NQS{c9(A+skgJm69Ti>!qFEO9ENWi;6A8ZA<vM|`Kfzf07ZX>XMlRxOy6rxIupYH0B%fQ)cri`ft)ML}aULbZehv1u+)4l|Xgu6C?TTJ{uefia
jA1w2FJH*P8$LY3{QbTia}nRQi}p5t;{Vs*?ro}%N~JmTyx(<l~QUuDsy$g~1&=dH>4ozN*Kbi_7{$~@OcFb+=1bCu!=A;{6x`A?6RjW9zK_%H4%-24JiOV
KP_Rf0JelOqqN2~FAb9FO<jaruC#bO~;S^rMPPX%gis2KbH`UQH{n4o5_W*EAqVz$xOa2DlG@uER~}FyfZ>ge5~+filMPT}h82%9(KuKuu?;q{-rMLzVt>t
yZ)>MuAC=W|XCr5%L-gkK&K#<G9&e$s1qflS-;-dg4<*Hht5DQ*gA>o}$zwh~+{TmC7v@aOH3x92Anq5nQT7sfn2^RM$X(%FB}pHO01nd&j1HA>le-x&cn3
HZ7k9Rbwy7YpJ<CgeF#yv!feeB(+{VUGskf;wBIxvm<9<6#z$qw8<WJqS~iJ<}wJLLEbnI(a9ACfwi5L4qpM-1=mTM4dSgRC@OM6E(9--MX0cSTb`Fw5di(
jD5Vl6YH5!O%c}s3PnMMf7_=fQi;Oas=}H;dxwPo2yyl8|6JyGYqoNT}=X52^ASymX$K|;2>+}IBiKgG;8F)|eJq&$M@dRSF59m1?BHNerXFCdN9f^KI;o1
~9XkK^`q41%EGMdlCsId~%cov$-68h`=Gxjj+vlFmHq%8pip<Y6Sh~+2(l1Kv-FJ1uRiHt<E6wtEr1W)romVi(S4exsp&PJe-e)qQr$aE&;Q=w6_7_jya<=
O*4-H#F76SFC>c$Xm4@1NgLefpY#P})ZS?@_i35P=(j&~9_XhcZiPejfyuoXzGCfj?V~heUY(0zm#f^uIVLw~z3KQ^08+502m|NtkIKg6H`=iOU53zX{mlq
+4(TJ5c`>G~Y}(rGaq1Up>DQ-r?7t7DJ7C`*NOx2tFBZ(*I59Jz<xS8gV|Pd^#~f{Fbl>$)A%(PJ}~?=$sow5?GVO5eSc$<MY4-k!nqlOZ0@&WoGK!M}Wdp
hgfrBf;9?iRXUDLa43@*lQ+Soe4}?Sq{9b<`l$5~?h&!1*_h`IYhB4W>AWUEuZ*Rl)5Nzz6TYuK-$f!@G%%qynM=xr$tvi`i%QDaNCrXJN)t7)q^`K8XL3S
zvrA8|rZTxvD<d+k>MIihLdM`ARG%?=!H!j6C(NIuMNGQB9{_npw@Q7d4W;TW(YHj}(Ana#;Dx$T$|?~zNwLe-giU)O@+wF!ht?Pd!#@JC@k%NX`4x{MEsF
yquK|@;pDOBI)z!8!XnhF*EIgk}VK+5NNh=XU1vPkbPAH;G#8(G}P#|_>1ZudbcCQPsce={_fP>uW3R@k-yfCU{M#Z^6(h*9n@7U@qF=jyN%Jmo=krg@1_;
^&(iQ%`=axGspUDsGywSqoLkpz%rwk7b&QKoFb@+XeKIaXj-RA^>s5$Nv$&5}c7nVF;DS~8v`CQqEuIY#kCBe;r3ctUZ~7Y_J=&~d?Y7O=(?P0P4y1Adw<$
sDjJ+naMcVz-4Bl(Bp)5)rVXa<#x2@utxt95{F+5Q#IvNNEAS3q-8~=dn&2C^teW;4*!5qFhDTHAq3)WC>0*NQJl)f!#_A<`AA-n)iShQz$PVsz_gyGeL#R
62U9}t<T?tFoPKzuc=9jM}nFJDvPRkv1BWp;{fG`2mk;PV8*?q6rLx@+l3pY-BH0sy#oggr)<Y$Pq=ljtc(N{Jc!CG#7qOMkuL6~AvK5;k$~WMK?qs6skn&
P%H=KYOeGKsvH`&v7K`tb(kBJCk;owu)v=UjL-q)w{X#^4je0kIz&nkCWCWHWFrh$V#Qb9vT_j%lfa@F)k;nk~dNBG9VDe*Pm>|Ir(K%H?R#i!x9m(l>iHw
MrECx|PUMCAQ0ZjxObScFqO?x4!i#$M1*Z--sPF76tjIOW5;7TjwHRa?M%1T*qXlXS8@pK8s-B6hWVlIVn#sU`k0aQI8orX6%0UTtNrizW&lyYV&!ePv#{|
C`JOuCwzgQ)N-Ed*ILAtfjmk&=hS500Q3NZt@GNBrWqVk&zq97wcVKm{qG5)eIYf}FGvVUK%u0H-2RYnX)unhwG%!-vF%NvcgKqE?HrS>5)mqz#ki)1(<BH
FYTM6g~_f;>kd!kWxYwA!Bj+I8^M9V;M+<f)Jm~ph<w!DDBbxF^pxta|T4;?F6Wp!D(k?ADcqtFOqo%43UYls)6gLh0p(hP)>&?$WL<E!TsEQG$ZY!ogktc
KZdcj)$}p)4j{x1X^c4s9C<9+77msYEfQwZE)!G{G~sCeDC3N+y?+Xbu@;}2RFq<a_{S;2)<<#sLWd8x%2N3hYXq;$AC26uKk=?wq{Px<-a{HA1Zb=}Ytp)
%BHXjM7^n)lV9-*F>E>b5`*^yZJT4#V5~W5WGxVVxIiz|ZoD;|MdpP$N`MY3$WML+plP8dyOJnE$;)EX@Mfl0}yt!+la*#DS-cUNDx)9~*%rhj$`*1t{L_T
${JNSKQLP-f`8qXm3oo69^ZX!Vm#y6LKIfQTg9;t!;J}6T)<ie1w9Uebm!QWitsPP4!iAra_M31C+1iF$$BWlut=65m@=syA;B7B5>;>{@qV$0;IrgUu`69
5>0eYv$fe)fPQ)6(Ki!YUH3`XPM>IbRr0eT|ss%!?FW@e2gr3(PGcSD4V1hU8ph(eH@_HSE)+Mcj=Qs!x}XNjcZTnl;d>`XoXh(ic%A<*+7*D*v<KW7qc~c
EtEt^+DJL8APOI2u>bjd>&;$sJ^Q~{ZJ&A70E&?n6Wl?U^)7YXVhW?pqf9UD+tXJ$LA6)Ysz(GM=n^K*Xkl#o3jZ)yBH07IlBTJ@vtI$A%;bkU8EScgjA!N
Xq)`atKpKSh)NPxT1meQo(6>bP@J3?#?_LQku{*ll^^ARvYfP{<3q_7q-vOq!>k#HT{I^791zXzVFNa2I7c*v*Tixl@SvS=LI5$YLKLebodE<6TeTjg=<<P
(50S59CkV1cM2Y&uNcXhEpnE(`M7wKo8~^!6934-f!uhmvg+wU}Hw*`Kkg1=7N1+8xm?9kvXoo#D>img1ivtc5h$G;%3yuT~s_bPPTxzVh28XAX8pFh`h@l
Ww4&|udY#GrRyFmuX9KZ7LINZulEmE->1rh@mw$6-B|Ad{=Inpjg2qTdg!-6QXSs~S(7$43tQ-JsA5tI7WYI}{4@(pmPEgE*lD6I0Irfh+ku||G>Z1y5^4L
GV-5!Qn3JOrZs-~rFR54R~QvC6UdG|1!*Vinb2Xt`qu_+#Z>6WOnlgHxYe+S-b)j5K|Sp^1=xh}J3zox-1~1~V(l3>4aUfKrplt@5qpc4Lgw)53g~*2qm2V
8Q}B$)B7e#Mx;9zDff`!V%mbR00eb8A<*6(?~XpSJT052V@Cj;hUaGQWu#&V5^-#RF+ldh<SR9YF9$K=F&1pEEQqtg>3M`+bBFy!bDqg>&nLF(FEfbd23R*
S_ZR6aRCg*<I>#*m|>CJNKNDZWYtGp&I3Z1kMOas{6NcNasz=>vN~z5Z>jP@23m>FVf~sA9!a0`!gx!bUX|rhs2ekr5)+prrTL3Nd3fkNo-&{Ofk1%|gQxC
sk#`u@2){Q&zv%d*G5(V32i|*v-Gbi-aKAP60i!;MyZ=CNU*NqKecK|tz7|>Er(+EN&ig*le<+@hTtD!=MungF9z@mGXzx8?Jia(ZAG`!S59glofA3?B0En
#55Y9<g=&+<~p87!Z$Fv>Z>2qXKnt-4IQR9oAXvB(Y#6(U+4N{0sXsq`AuQWe>@)7`Iy&!!h(uw~E4f+u9
"""
"""Columns by place (upper boxes and their sum) and by lower boxes, as `columns` reads them."""
RANKS = (8, 5, 6, 4)
STEPS = """
0.005572 0.02856 0.07015 0.08578 0.1103 0.1647 0.1776 0.1968 0.01302 0.06673 0.1639 0.2004 0.2577 0.3848 0.4149 0.4598
0.1238 0.5898 0.944 1.194 1.436 0.2892 1.378 2.205 2.789 3.355 0.001313 0.005507 0.01183 0.01807 0.01953 0.02344
0.003067 0.01286 0.02764 0.04221 0.04562 0.05475 0.0118 0.0273 0.05441 0.07036 0.02758 0.06377 0.1271 0.1644
"""
"""Columns of each of the four numbers, and the steps in which they are written."""

SETS = [faces for n in range(6) for faces in combinations_with_replacement(range(1, 7), n)]
NUMBER = {faces: number for number, faces in enumerate(SETS)}
KEEPS = NUMBER[1, 1, 1, 1, 1]  # the sets before this one have fewer than five dice
HANDS = SETS[KEEPS:]

BOXES = 15
ALL = (1 << BOXES) - 1
BONUS_FROM, BONUS = 63, 50
TOTALS = 375
EXACT = 3
"""Open boxes up to which distributions are computed."""

ROUNDING = 1e-9  # sums of products differ by less from machine to machine; a choice must not


def chances(kept):
    """Return the probability of each hand when the missing dice of a kept set are rolled."""
    row = np.zeros(len(HANDS))
    n = 5 - len(kept)
    for rolled in combinations_with_replacement(range(1, 7), n):
        ways = factorial(n)
        for face in set(rolled):
            ways //= factorial(rolled.count(face))
        row[NUMBER[tuple(sorted(kept + rolled))] - KEEPS] += ways / 6**n
    return row


def parts_of(hand):
    """Return the numbers of all sets that are part of a hand, itself included; padded to 32 by repeating."""
    found = {NUMBER[tuple(hand[i] for i in range(5) if mask >> i & 1)] for mask in range(32)}
    return (sorted(found) * 32)[:32]


CHANCES = np.array([chances(kept) for kept in SETS[:KEEPS]])
PARTS = np.array([parts_of(hand) for hand in HANDS])


def best_dice(box, hand):
    """Return the faces that score most in a box, and the points; no faces if nothing scores."""
    count = {face: hand.count(face) for face in range(6, 0, -1)}
    pairs = [face for face in count if count[face] >= 2]
    faces = ()
    if box <= 6:
        faces = (box,) * count[box]
    elif box in (7, 9, 10):
        n = {7: 2, 9: 3, 10: 4}[box]
        faces = next(((face,) * n for face in count if count[face] >= n), ())
    elif box == 8 and len(pairs) == 2:
        faces = tuple(face for face in pairs for _ in range(2))
    elif (
        box == 14
        or (box == 11 and hand == (1, 2, 3, 4, 5))
        or (box == 12 and hand == (2, 3, 4, 5, 6))
        or (box == 13 and len(pairs) == 2 and 3 in count.values())
        or (box == 15 and len(set(hand)) == 1)
    ):
        faces = hand
    return faces, (50 if box == 15 and faces else sum(faces))


DICE_FOR = [[best_dice(box, hand)[0] for box in range(1, 16)] for hand in HANDS]
POINTS = np.array([[best_dice(box, hand)[1] for box in range(1, 16)] for hand in HANDS])


def places():
    """Return the number of each set of upper boxes and their sum, up to 63; -1 if it cannot be."""
    possible = np.zeros((64, BONUS_FROM + 1), bool)
    possible[0, 0] = True
    for boxes in range(1, 64):
        box = boxes.bit_length() - 1
        for points in range(0, 6 * (box + 1), box + 1):
            sums = np.minimum(np.flatnonzero(possible[boxes ^ 1 << box]) + points, BONUS_FROM)
            possible[boxes, sums] = True
    return np.where(possible, possible.cumsum().reshape(possible.shape) - 1, -1)


PLACES = places()
N_PLACES = int(PLACES.max()) + 1


def columns():
    """Return the four numbers of SUMMARY, each as (by place, by lower boxes)."""
    numbers = np.frombuffer(zlib.decompress(b85decode(SUMMARY.replace("\n", ""))), np.uint8)
    low, high = numbers.reshape(2, -1).astype(np.int64)
    steps, found, at = map(float, STEPS.split()), [], 0
    numbers = low + 256 * high - 32768
    for rank in RANKS:
        pair = []
        for length in (N_PLACES, 512):
            block = numbers[at : at + rank * length].reshape(rank, length)
            pair.append(block * np.array([next(steps) for _ in range(rank)])[:, None])
            at += rank * length
        found.append(pair)
    return found


COLUMNS = columns()
NORMAL_AT = np.arange(-6000, 6001) / 1000
NORMAL = np.array([0.5 * (1 + erf(x / sqrt(2))) for x in NORMAL_AT])
EDGES = np.array([-1e9, *(np.arange(1, TOTALS) - 0.5), 1e9])


def summary(filled, upper):
    """Return mean and variance without the bonus, the chance of the bonus, and their covariance."""
    place, lower = PLACES[filled & 63, upper], filled >> 6
    return [float(by_place[:, place] @ by_lower[:, lower]) for by_place, by_lower in COLUMNS]


@lru_cache(maxsize=4096)
def nearly(filled, upper):
    """Return the distribution of the points to come as two normal ones, with the bonus and without."""
    mean, variance, bonus, together = summary(filled, upper)
    bonus = min(max(bonus, 0.0), 1.0) if upper < BONUS_FROM else 0.0
    spread = bonus * (1 - bonus)
    apart = together / spread if spread > 0.001 else 0.0
    deviation = sqrt(max(variance - apart * together, 0.25))
    row = np.zeros(TOTALS)
    for likely, middle in ((1 - bonus, mean - bonus * apart), (bonus, mean + (1 - bonus) * apart + BONUS)):
        if likely > 0:
            row += likely * np.diff(np.interp((EDGES - middle) / deviation, NORMAL_AT, NORMAL))
    return row


def after(filled, upper, box, points):
    """Return what scoring earns, and the position after it."""
    later = min(upper + points, BONUS_FROM) if box < 6 else upper
    return points + (BONUS if upper < BONUS_FROM <= later else 0), filled | 1 << box, later


def to_come(filled, upper):
    """Return the distribution of the points to come, for one who plays for their mean."""
    open_boxes = [box for box in range(BOXES) if not filled >> box & 1]
    if len(open_boxes) > EXACT:
        return nearly(filled, upper)
    if upper + sum(5 * (box + 1) for box in open_boxes if box < 6) < BONUS_FROM:
        upper = 0  # whatever it is: there will be no bonus
    return exactly(filled, upper)


@lru_cache(maxsize=4096)
def exactly(filled, upper):
    """Return the same by going through all that can be rolled."""
    row = np.zeros(TOTALS)
    if filled == ALL:
        row[0] = 1
        return row
    later, worth = {}, np.full(POINTS.shape, -1000.0)
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in np.unique(POINTS[:, box]).tolist():
                earned, boxes, total = after(filled, upper, box, points)
                rows = to_come(boxes, total)
                later[box, points] = earned, rows
                worth[POINTS[:, box] == points, box] = earned + rows @ np.arange(TOTALS)
    scored, best, choices = worth.max(axis=1), worth.max(axis=1), []
    for _ in range(2):
        choice, best = keep(np.concatenate([CHANCES @ best, scored]))
        choices.append(choice)
    final, rolled = np.zeros(len(HANDS)), CHANCES[0]
    for choice in reversed(choices):
        likely = np.bincount(choice, rolled, len(SETS))
        final, rolled = final + likely[KEEPS:], likely[:KEEPS] @ CHANCES
    final += rolled
    boxes = first_bests(worth)
    for (box, points), (earned, rows) in later.items():
        likely = final[(boxes == box) & (POINTS[:, box] == points)].sum()
        if likely > 0:
            row[earned:] += likely * rows[: TOTALS - earned]
    return row


def keep(worths):
    """Return the best set to keep of each hand, and what it is worth."""
    choice = PARTS[np.arange(len(HANDS)), first_bests(worths[PARTS])]
    return choice, worths[choice]


def first_bests(values):
    """Return the place of the first value in each row that none exceeds by more than rounding."""
    return (values > values.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def standing_of(scores):
    """Return the filled boxes (bits), the sum of the upper ones, at most 63, and the points so far, from a message."""
    fields = scores.split(",")
    filled = sum(1 << box for box in range(BOXES) if fields[box] != "-")
    upper = sum(int(score) for score in fields[:6] if score != "-")
    points = sum(int(score) for score in fields if score != "-")
    return filled, min(upper, BONUS_FROM), points + (BONUS if upper >= BONUS_FROM else 0)


def prizes(others):
    """Return the share of the first place that each final total gets: against each of the others' distributions."""
    ties = [np.ones(TOTALS)]  # how likely nobody is above, and so many are equal
    for equal in others:
        below = np.concatenate([[0.0], equal.cumsum()[:-1]])
        more = [*(row * below for row in ties), np.zeros(TOTALS)]
        for n, row in enumerate(ties):
            more[n + 1] = more[n + 1] + row * equal
        ties = more
    return sum(row / (n + 1) for n, row in enumerate(ties))


def shifted(row, points):
    """Return a distribution of points to come as one of totals."""
    moved = np.zeros(TOTALS)
    moved[points:] = row[: TOTALS - points]
    moved[-1] += row[TOTALS - points :].sum()
    return moved


def worth_of_boxes(mine, others):
    """Return what each hand is worth in each box: the share of the first place; alone, points."""
    filled, upper, points_so_far = standing_of(mine)
    prize = prizes([shifted(to_come(boxes, total), points) for boxes, total, points in map(standing_of, others)])
    if not others:
        prize = np.arange(TOTALS) * 1.0
    worth = np.full(POINTS.shape, -1000.0)
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in np.unique(POINTS[:, box]).tolist():
                earned, boxes, total = after(filled, upper, box, points)
                share = shifted(to_come(boxes, total), points_so_far + earned) @ prize
                worth[POINTS[:, box] == points, box] = share
    return worth


def places_of(faces, dice):
    """Return the places of dice that show these faces."""
    places = list(range(5))
    found = []
    for face in faces:
        place = next(place for place in places if dice[place] == face)
        places.remove(place)
        found.append(place)
    return found


def command(standing):
    mover = standing["currentPlayer"]
    mine = [row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"]]
    others = [row["score"] for row in standing["standing"] if row["playerName"] != mover["playerName"]]
    dice = mover["dice"]
    hand = NUMBER[tuple(sorted(dice))] - KEEPS
    worth = worth_of_boxes(mine[0], others)  # by hand and box
    if mover["rollsLeft"]:
        scored = best = worth.max(axis=1)
        for _ in range(mover["rollsLeft"] - 1):
            best = keep(np.concatenate([CHANCES @ best, scored]))[1]
        kept = keep(np.concatenate([CHANCES @ best, scored]))[0][hand]
        if kept < KEEPS:
            held = places_of(SETS[kept], dice)
            return {"type": "ROLL_DICE", "dice": [place for place in range(5) if place not in held]}
    box = int(first_bests(worth[hand : hand + 1])[0])
    return {"type": "SCORE_BOX", "box": box + 1, "dice": places_of(DICE_FOR[hand][box], dice) or [0, 1, 2, 3, 4]}
