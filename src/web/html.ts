/** Markup that is safe to send. Only `html` creates it, escaping every value that is not markup. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, character => entities[character] ?? '') : text

function textOf(content: Content): string {
  if (content instanceof Html) return content.text
  if (content === false || content === null || content === undefined) return ''
  if (typeof content === 'object') return content.map(textOf).join('')
  return escaped(String(content))
}

/** Creates markup from a template. Attribute values must be quoted: `html`<a href="${address}">${name}</a>``. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = parts[0] ?? ''
  // A page is thousands of these: a loop takes half of the time of `reduce`.
  for (let index = 1; index < parts.length; index++) text += textOf(values[index - 1]) + parts[index]
  return new Html(text)
}

/** Characters that a reader does not see: controls, and what turns the direction of the text around. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Words of visible ASCII with single spaces between them: each sign is one character, and nothing is unseen. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/**
 * A text of somebody else as a page shows it: in one line, with a mark where it has what nobody would see, and cut after
 * so many characters. Names come from agents and merchants, who may want to look like somebody else.
 */
export function plainText(text: string, most = 1_000): string {
  if (PLAIN.test(text)) return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
  const line = text.replace(/\s+/gu, ' ').replace(UNSEEN, '\ufffd').trim()
  // No character that a reader sees is shorter than one unit: nothing is counted where nothing can be cut.
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
