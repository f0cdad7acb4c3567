/** Safe markup. Only `html` creates it; it escapes every value that is not markup. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlContent = Html | string | number | false | null | undefined | readonly HtmlContent[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, character => entities[character] ?? '') : text

function textOf(content: HtmlContent): string {
  if (content instanceof Html) return content.text
  if (content === false || content === null || content === undefined) return ''
  if (typeof content === 'object') return content.map(textOf).join('')
  return escaped(String(content))
}

/** Creates markup from a template. Attribute values must be quoted: `html`<a href="${address}">${name}</a>``. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  let text = parts[0] ?? ''
  // A page has thousands of these, and a loop takes half the time of `reduce`.
  for (let index = 1; index < parts.length; index++) text += textOf(values[index - 1]) + parts[index]
  return new Html(text)
}

/**
 * Also a pattern of dots that looks like nothing. Emoji and many scripts need joiners and variation selectors; at the beginning
 * of a word, and after letters of these scripts, they only hide.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]--[\p{Variation_Selector}\u200c\u200d]]+|(?<=^|[\s\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{Variation_Selector}\u200c\u200d]+/gv

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Visible ASCII with single spaces: each character is one code unit, and all are visible. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/**
 * Shows third-party text on one line, with invisible characters marked, cut at `most` characters. Agents and
 * merchants choose their names, and may imitate others.
 */
export function htmlToText(text: string, most = 1_000): string {
  if (PLAIN.test(text)) return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
  const line = text.replace(/\s+/gu, ' ').replace(INVISIBLE, '\ufffd').trim()
  // A visible character has at least one code unit, so a short text needs no count.
  if (line.length <= most) return line
  const bounded = line.slice(0, 8 * most)
  const shown = Array.from(segments.segment(bounded), ({ segment }) => segment)
  const isWhole = bounded.length === line.length && shown.length <= most
  return isWhole
    ? line
    : `${shown
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}
