/**
 * Letters and digits of other scripts that look like Latin ones: the entries of Unicode's `confusables.txt`
 * (UTS #39) that no decomposition covers, with small capitals and letters with a stroke added.
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

const latinByLookalike = new Map<string, string>()
for (const [latin, characters] of Object.entries(lookalikes))
  for (const character of characters) latinByLookalike.set(character, latin)
// Names are compared without their case, so a lookalike in one case is a lookalike in the other as well.
for (const [character, latin] of [...latinByLookalike])
  for (const otherCase of [character.toLowerCase(), character.toUpperCase()])
    if (!latinByLookalike.has(otherCase)) latinByLookalike.set(otherCase, latin)

const accentOrInvisible = /\p{Script=Inherited}|\p{Default_Ignorable_Code_Point}|\p{Cc}/gu

const beyondAscii = /[\u0080-\u{10ffff}]/u
const allBeyondAscii = new RegExp(beyondAscii, 'gu')

const replaceLookalikes = (text: string): string =>
  text.replace(allBeyondAscii, character => latinByLookalike.get(character) ?? character)

/** Replaces twice: some lookalikes decompose into a different shape, and others appear only by decomposition. */
const toLatin = (text: string): string =>
  replaceLookalikes(replaceLookalikes(text).normalize('NFKD').replace(accentOrInvisible, ''))

/**
 * The skeleton of a text in the sense of UTS #39, which is equal for texts that look alike. For comparison
 * only: `i`, `l` and `1` are one letter in it, and `rn` is an `m`.
 */
export const confusableSkeleton = (text: string): string =>
  (beyondAscii.test(text) ? toLatin(text) : text)
    .toLowerCase()
    .replace(/[i1|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** Finds invisible characters other than spaces, which are never typed and never seen. */
export const hasInvisibleCharacter = (text: string): boolean =>
  /\p{Default_Ignorable_Code_Point}|\p{Cc}/u.test(text)
