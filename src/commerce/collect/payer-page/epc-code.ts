import { encode } from 'uqr'
import { type Cents, formatDecimal } from '../../../values/money.ts'
import { html } from '../../../web/html.ts'

export interface EpcTransfer {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
  readonly amountCents: Cents
  readonly reference: string
}

/** The capacity of a version 13 QR code at level M. */
const MAX_BYTES = 331
const LONGEST_NAME = 70
/** The largest SEPA credit transfer, in cents. */
const MAX_CENTS = 99_999_999_999n

/**
 * The content of a QR code by which banking apps fill in a credit transfer (EPC069-12, version 002, UTF-8).
 * Undefined if the data does not fit a code. A long name is cut: the bank compares it with the account
 * holder's, and shows the full one.
 */
export function epcQrContent({ name, iban, bic, amountCents, reference }: EpcTransfer): string | undefined {
  if (amountCents < 1n || amountCents > MAX_CENTS) return undefined
  const withName = (fitting: string): string =>
    [
      'BCD',
      '002',
      '1',
      'SCT',
      bic ?? '',
      fitting,
      iban,
      `EUR${formatDecimal(amountCents)}`,
      '',
      reference,
    ].join('\n')
  const room = MAX_BYTES - Buffer.byteLength(withName(''))
  const fitting = fittingName(name, room)
  return fitting === '' ? undefined : withName(fitting)
}

function fittingName(name: string, bytes: number): string {
  const line = name.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const characters = [...line]
  let cut = characters.slice(0, LONGEST_NAME)
  while (Buffer.byteLength(cut.join('')) > bytes) cut = cut.slice(0, -1)
  if (cut.length === characters.length) return line
  const isBetweenWords = characters[cut.length] === ' '
  const lastGap = isBetweenWords ? cut.length : cut.lastIndexOf(' ')
  return (lastGap > 0 ? cut.slice(0, lastGap) : cut).join('').trimEnd()
}

const QUIET_ZONE = 4
const MAX_VERSION = 13

export function qrCodeSvg(text: string, title: string): string {
  const bytes = [...Buffer.from(text)]
  const { data } = encode(bytes, { ecc: 'M', boostEcc: false, maxVersion: MAX_VERSION, border: QUIET_ZONE })
  const size = data.length
  const path = data.flatMap((row, y) =>
    darkRuns(row).map(({ x, width }) => `M${x} ${y}h${width}v1h-${width}z`),
  )
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size * 4}" height="${size * 4}" shape-rendering="crispEdges">
<title>${title}</title>
<rect width="${size}" height="${size}" fill="#fff"/>
<path d="${path.join('')}" fill="#000"/>
</svg>
`.text
}

function darkRuns(row: readonly boolean[]): { x: number; width: number }[] {
  const runs: { x: number; width: number }[] = []
  for (const [x, isDark] of row.entries()) {
    const last = runs.at(-1)
    if (!isDark) continue
    if (last && last.x + last.width === x) last.width++
    else runs.push({ x, width: 1 })
  }
  return runs
}
