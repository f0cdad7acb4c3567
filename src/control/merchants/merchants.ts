/** For equality of names: case, accents, spaces and punctuation say nothing. */
export const foldMerchant = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]/gu, '')
    .toLowerCase()

/** The first pattern that matches; names or hosts, `*.example.com`. */
export function matcher(patterns: readonly string[]): (merchant: string) => string | undefined {
  const known = patterns.map(pattern => ({
    pattern,
    folded: foldMerchant(pattern),
    suffix: pattern.startsWith('*.') ? pattern.slice(1).toLowerCase() : undefined,
  }))
  return merchant => {
    const [folded, host] = [foldMerchant(merchant), merchant.toLowerCase()]
    return known.find(one => (one.suffix ? host.endsWith(one.suffix) : folded === one.folded))?.pattern
  }
}

const groups: Readonly<Record<string, readonly string[]>> = {
  software: ['5734', '5817', '7372'],
  travel: ['4111', '4112', '4511', '4722', '7011'],
  education: ['8211', '8220', '8299'],
  publishing: ['5192', '5942', '5994'],
}

/** The codes of a named group. */
export const mccGroup = (name: string): readonly string[] | undefined => groups[name]
export const mccGroupNames: readonly string[] = Object.keys(groups)
