type Bytes = readonly [number, number, number, number]

/** One address in each kind of network, and the rule that it violates. */
const ADDRESSES: readonly (readonly [rule: string, bytes: Bytes])[] = [
  ['loopback', [127, 0, 0, 1]],
  ['private', [10, 1, 2, 3]],
  ['private', [172, 31, 255, 254]],
  ['private', [192, 168, 0, 1]],
  ['metadata', [169, 254, 169, 254]],
  ['shared', [100, 64, 0, 1]],
  ['multicast', [224, 0, 0, 251]],
  ['reserved', [198, 18, 0, 1]],
]

const asInteger = ([a, b, c, d]: Bytes) => ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
const hex = (part: number) => part.toString(16)
const octal = (part: number) => `0${part.toString(8)}`
const pair = (high: number, low: number) => hex((high << 8) | low)
const asGroups = ([a, b, c, d]: Bytes) => `${pair(a, b)}:${pair(c, d)}`
const dotted = (bytes: Bytes) => bytes.join('.')
const wide = (text: string) => text.replace(/\d/g, digit => String.fromCharCode(0xff10 + Number(digit)))
const circled = (text: string) =>
  text.replace(/[1-9]/g, digit => String.fromCharCode(0x245f + Number(digit))).replaceAll('0', '⓪')
const percent = (text: string) => text.replace(/./g, char => `%${hex(char.charCodeAt(0))}`)

/** Notations of an IPv4 address that lead to it. */
const NOTATIONS: readonly ((bytes: Bytes) => string)[] = [
  dotted,
  bytes => `${dotted(bytes)}.`,
  bytes => String(asInteger(bytes)),
  bytes => `0x${hex(asInteger(bytes))}`,
  bytes => `0X${hex(asInteger(bytes)).toUpperCase()}`,
  bytes => octal(asInteger(bytes)),
  bytes => bytes.map(part => `0x${hex(part)}`).join('.'),
  bytes => bytes.map(octal).join('.'),
  bytes => bytes.map(part => `000${octal(part)}`).join('.'),
  ([a, b, c, d]) => `${a}.${b}.${(c << 8) | d}`,
  ([a, b, c, d]) => `${octal(a)}.${(b << 16) | (c << 8) | d}`,
  bytes => wide(dotted(bytes)),
  bytes => circled(dotted(bytes)),
  bytes => dotted(bytes).replaceAll('.', '。'),
  bytes => percent(dotted(bytes)),
  bytes => `[::ffff:${dotted(bytes)}]`,
  bytes => `[::FFFF:${asGroups(bytes)}]`,
  bytes => `[0:0:0:0:0:ffff:${asGroups(bytes)}]`,
]

/** Other addresses that lead to it, refused in any case. */
const DISGUISES: readonly ((bytes: Bytes) => string)[] = [
  bytes => `[::${dotted(bytes)}]`,
  bytes => `[64:ff9b::${dotted(bytes)}]`,
  bytes => `[64:ff9b:1::${asGroups(bytes)}]`,
  bytes => `[2002:${asGroups(bytes)}::1]`,
  bytes => `[2001:0:${asGroups(bytes)}::1]`,
]

/** The first and last address of every block, and other unassigned ranges of IANA. */
const EDGES: Readonly<Record<string, string>> = {
  loopback: '127.0.0.0 127.255.255.255 [::1] [0:0:0:0:0:0:0:1]',
  unspecified: '0.0.0.0 0.255.255.255 0 [::]',
  private:
    '10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 [fc00::1] [fdff:ffff::1] [fec0::1] [feff::1]',
  shared: '100.64.0.0 100.127.255.255',
  link_local: '169.254.0.0 169.254.255.255 [fe80::1] [febf::1]',
  multicast: '224.0.0.0 239.255.255.255 [ff02::1] [ffff::1]',
  translated: '192.88.99.0 192.88.99.255 [64:ff9b::808:808] [2002:808:808::1] [2001::1] [2001:0:ffff::1]',
  reserved:
    '192.0.0.0 192.0.0.255 192.0.2.1 198.19.255.255 198.51.100.1 203.0.113.255 240.0.0.0 255.255.255.255 ' +
    '[2001:2::1] [2001:10::1] [2001:1ff::1] [2001:db8::1] [3fff::1] [3fff:fff::1] [100::1] [5f00::1] [4000::1] [1fff::1]',
  metadata:
    '169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 [::ffff:a83f:8110] [fd00:ec2::254] metadata.google.internal METADATA.google.INTERNAL. metadata instance-data',
}

const LISTED: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    'http://localhost',
    'http://LOCALHOST:8080/x',
    'https://localhost.',
    'http://a.localhost',
    'http://a.b.LocalHost./',
    'http://localhost.localdomain',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
    'http://%6c%6f%63alhost/',
    'http://127.1',
    'http://0x7f.1/',
    'http://017700000001/',
    'HTTP://127.0.0.1',
    'https://127.0.0.1:443/?https://example.com',
    'http://127.0.0.1#@example.com',
    'http://127.0.0.1?@example.com/',
  ],
  internal_name: [
    'http://postgres:8080',
    'http://temporal/',
    'https://router.local',
    'https://build.internal/hook',
    'https://nas.home.arpa.',
    'https://intranet.corp',
    'http://something.onion',
  ],
  userinfo: [
    'http://127.0.0.1@example.com/',
    'http://example.com@127.0.0.1/',
    'https://user:password@example.com',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com%40a@b.example/',
    'https://example.com:443@10.0.0.1/',
  ],
  scheme: [
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com:70/_x',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ws://example.com',
    'unix:/run/docker.sock',
    'httpx://example.com',
    'http+unix://%2Frun%2Fdocker.sock/',
    '//example.com/',
    'example.com',
    '',
  ],
  port: [
    'http://example.com:0/',
    'http://example.com:22/',
    'http://example.com:25/',
    'https://example.com:00025/',
    'https://example.com:5432/',
    'https://example.com:6379/',
    'http://example.com:11211/',
    'http://[2606:4700::1111]:6667/',
  ],
  malformed: [
    'http://',
    'http:///example.com/',
    'http:example.com',
    'https:/example.com',
    'https:\\\\example.com\\',
    'https://example.com\\@127.0.0.1/',
    'https://example.com/a b',
    ' https://example.com',
    'https://example.com/\r\nHost: 127.0.0.1',
    'ht\ntp://example.com',
    'https://exam\tple.com/',
    'https://example.com/\u0000',
    'https://example.com/\u2028',
    'https://example.com:65536/',
    'https://example.com:-1/',
    'https://example.com:80:80/',
    'https://127.0.0.1.5/',
    'https://256.1.1.1/',
    'https://0x1.example.0x1/',
    'https://example..com/',
    'https://.example.com/',
    'https://example.com../',
    'https://-a.example/',
    "https://a'b.example/",
    'https://a;b.example/',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(127)}example/`,
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https://[::ffff:127.0.0.1.1]/',
    'https://[127.0.0.1]/',
    'https://exa%00mple.com/',
  ],
  too_long: [`https://example.com/${'a'.repeat(2048)}`],
}

const inUrl = (host: string) => `http://${host}/hook`

/** URLs that must be refused, each with its rule. */
export const hostileUrls: readonly (readonly [url: string, rule: string])[] = [
  ...ADDRESSES.flatMap(([rule, bytes]) => [
    ...NOTATIONS.map(write => [inUrl(write(bytes)), rule] as const),
    ...DISGUISES.map(write => [inUrl(write(bytes)), 'translated'] as const),
  ]),
  ...Object.entries(EDGES).flatMap(([rule, hosts]) =>
    hosts.split(' ').map(host => [inUrl(host), rule] as const),
  ),
  ...Object.entries(LISTED).flatMap(([rule, urls]) => urls.map(url => [url, rule] as const)),
]

/** Neighbors and lookalikes of the hostile URLs, which must be allowed. */
export const harmlessUrls: readonly string[] = [
  ...(
    '9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 ' +
    '172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.1 192.167.255.255 192.169.0.0 198.17.255.255 ' +
    '168.63.129.15 168.63.129.17 198.20.0.0 223.255.255.255 8.8.8.8 134744072 [::ffff:8.8.8.8] [2001:200::1] [2003::1] [2606:4700::1111] ' +
    '[3ffe::1] [2001:db7::1] [2001:db9::1]'
  )
    .split(' ')
    .map(inUrl),
  'https://example.com',
  'HTTPS://EXAMPLE.COM./a?b=c#d',
  'https://example.com:8443/',
  'http://example.com:80/',
  'https://localhost.example.com/',
  'https://notlocalhost.example/',
  'https://internal.example/',
  'https://metadata.google.internal.example/',
  'https://127.0.0.1.example.com/',
  'https://under_score.example/',
  'https://münchen.example/grüße?ä=ö',
  'https://xn--mnchen-3ya.example/',
  'https://example.com/@user:password',
  'https://example.com/?u=http://127.0.0.1/',
]
