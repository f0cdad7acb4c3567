import type { XmlElement } from './xml-reader.ts'

export const xmlElement = (
  name: string,
  content: string | readonly (XmlElement | undefined)[],
  attributes: Readonly<Record<string, string>> = {},
): XmlElement => ({
  name,
  namespace: '',
  attributes: new Map(Object.entries(attributes)),
  children: typeof content === 'string' ? [] : content.filter(child => child !== undefined),
  text: typeof content === 'string' ? content : '',
})

export const writeXml = (root: XmlElement, namespace: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${serializeXml({ ...root, attributes: new Map([['xmlns', namespace]]) })}\n`

export function serializeXml({ name, attributes, children, text }: XmlElement): string {
  const attributeText = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')
  return `<${name}${attributeText}>${escaped(text)}${children.map(serializeXml).join('')}</${name}>`
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"]/g, sign => escapes[sign] ?? sign)
