/**
 * Letters and digits of other scripts that are read as Latin ones: those of Unicode's `confusables.txt` (UTS #39)
 * that no decomposition reaches, and of our own the small capitals and the letters with a stroke.
 */
const lookalikes = {
  a: 'ɑΑαАаᎪᗅᴀꓮ𐊠𖽀⍺',
  aa: 'ꜳ',
  ae: 'æӕ',
  ao: 'ꜵ',
  au: 'ꜷ',
  av: 'ꜹꜻ',
  ay: 'ꜽ',
  b: 'ƀƄʙΒβВЬᏏᏴᑲᖯᗷꓐꞴ𐊂𐊡𐌁',
  c: 'СсᏟᴄⲤⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲ϲϹ',
  d: 'ðđɖԁᎠᏧᑯᗞᗪᴅꓒꓓ',
  dz: 'ʣ',
  e: 'ɛΕЕеҽᎬᴇⴹꓰꬲ𐊆𑢦𑢮℮⋿',
  f: 'ϜքᖴẝꓝꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂𝈓',
  g: 'ƍǥɡɢԌցᏀᏳᶃꓖ',
  h: 'ħʜΗНһհᎻᏂᕼⲎꓧ𐋏',
  i: 'ıɨɩɪιіӏᎥꙇꭵ𑣃⍳',
  j: 'ɉͿϳЈјᎫᒍᴊꓙꞲ',
  k: 'ĸΚКᏦᛕᴋⲔꓗ𐔘',
  l: '|łƖƚǀʟΙІӀ۱Ꮮᒪᛁ∣ⲒⳐⵏꓡꓲ𐊊𐌉𐌠𐐛𐔦𑢣𑢲𖼖𖼨⏽￨𝈪',
  ll: '‖∥ǁ',
  ls: 'ʪ',
  lz: 'ʫ',
  m: 'ΜϺМᎷᗰᛖᴍⲘꓟ𐊰𐌑𑣣𑜀',
  n: 'ɴΝոռⲚꓠ𐔓',
  o: 'øɵΟοσОоՕօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲞⲟⵔ〇ꓳꬽ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠',
  oe: 'œ',
  oo: '∞ꝏꚙ',
  p: 'ΡρРрᏢᑭᴘⲢⲣꓑ𐊕⍴',
  q: 'ԛգզⵕ',
  r: 'ƦʀгᎡᏒᖇᴦⲅꓣꭇꭈꮁ𐒴𖼵𝈖',
  s: 'ƽЅѕՏᏕᏚꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺',
  ss: 'ßẞ',
  t: 'ŧΤТᎢᴛⲦꓔ𐊗𐊱𐌕𑢼𖼊⊤⟙',
  tf: 'ꝷ',
  ts: 'ʦ',
  u: 'ʉʋυՍսሀᑌᴜ∪ꓴꞟꭎꭒ𐓎𐓶𑢸𑣘𖽂⋃',
  ue: 'ᵫ',
  v: 'νѴѵ۷Ꮩᐯᴠ∨ⴸꓦꛟꮩ𐔝𑜆𑢠𑣀𖼈⋁𝈍',
  w: 'ɯѡԜԝաᎳᏔᴡꓪꮃ𑜊𑜎𑜏𑣦𑣯',
  x: '×ΧХхᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬᙮᙭╳⤫⤬⨯',
  y: 'ɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ𐊲𑢤𑣜𖽃',
  z: 'ƶΖᏃᴢꓜꮓ𐋵𑢩𑣄𑣥',
  2: 'ƧϨᒿꙄꛯꝚ',
  3: 'ƷȜЗӠⳌꝪꞫ𑣊𖼻𝈆',
  4: 'Ꮞ𑢯',
  5: 'Ƽ𑢻',
  6: 'бᏮⳒ𑣕',
  7: '𐓒𑣆𝈒',
  8: 'Ȣȣ৪੪𐌚',
  9: '৭੧୨൭ⳊꝮ𑢬𑣌𑣖',
}

const latin = new Map<string, string>()
for (const [letters, alike] of Object.entries(lookalikes)) for (const one of alike) latin.set(one, letters)
// Names are compared whatever their case: what is read as a Latin letter in one case is so in the other.
for (const [one, letters] of [...latin])
  for (const other of [one.toLowerCase(), one.toUpperCase()]) if (!latin.has(other)) latin.set(other, letters)

/** Accents, and all that is not seen. */
const unseen = /\p{Script=Inherited}|\p{Default_Ignorable_Code_Point}|\p{Cc}/gu

const beyondAscii = /[\u0080-\u{10ffff}]/u
const allBeyondAscii = new RegExp(beyondAscii, 'gu')

const exchanged = (text: string): string => text.replace(allBeyondAscii, one => latin.get(one) ?? one)

// Once before, for what decomposes into something that looks otherwise, and once after, for the rest.
const inLatin = (text: string): string => exchanged(exchanged(text).normalize('NFKD').replace(unseen, ''))

/**
 * What a text looks like at a glance: two texts that can be taken for each other have the same. It is for comparing
 * alone; `i`, `l` and `1` are one letter in it, and `rn` is an `m`.
 */
export const glance = (text: string): string =>
  (beyondAscii.test(text) ? inLatin(text) : text)
    .toLowerCase()
    .replace(/[i1|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** What is not seen and not a space: nobody types it, and whoever reads the text does not know that it is there. */
export const hasUnseen = (text: string): boolean => /\p{Default_Ignorable_Code_Point}|\p{Cc}/u.test(text)
