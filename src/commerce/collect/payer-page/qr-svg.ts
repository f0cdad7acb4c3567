import { encode } from 'uqr'
import { html } from '../../../web/html.ts'

/** The light margin that readers need, in modules. */
const QUIET = 4
/** The largest code that EPC069-12 allows. */
const LARGEST_VERSION = 13

/** Draws a text as a QR code: dark on white in every colour scheme, as readers expect it. */
export function qrSvg(text: string, title: string): string {
  const bytes = [...Buffer.from(text)]
  const { data } = encode(bytes, { ecc: 'M', boostEcc: false, maxVersion: LARGEST_VERSION, border: QUIET })
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

/** The stretches of dark modules in a row. */
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
