import type { XmlElement } from './xml-reader.ts'

/** An element of a message that we write, with text in it or with others; what is undefined is left out. */
export const element = (
  name: string,
  content: string | readonly (XmlElement | undefined)[],
  attributes: Readonly<Record<string, string>> = {},
): XmlElement => ({
  name,
  namespace: '',
  attributes: new Map(Object.entries(attributes)),
  children: typeof content === 'string' ? [] : content.filter(one => one !== undefined),
  text: typeof content === 'string' ? content : '',
})

/** A message as it is sent. All of its elements are of one namespace. */
export const writeXml = (root: XmlElement, namespace: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${serialize({ ...root, attributes: new Map([['xmlns', namespace]]) })}\n`

/** One element by itself, for a message that is written piece by piece. */
export function serialize({ name, attributes, children, text }: XmlElement): string {
  const given = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')
  return `<${name}${given}>${escaped(text)}${children.map(serialize).join('')}</${name}>`
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/** What XML has no place for, control characters, is left out. */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"]/g, sign => escapes[sign] ?? sign)
