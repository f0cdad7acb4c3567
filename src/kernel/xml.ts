import sax, { type QualifiedTag } from 'sax'

/** An element by its local name, with the elements and the text in it. */
export interface XmlElement {
  readonly name: string
  readonly namespace: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: XmlElement[]
  text: string
}

/** What was given cannot be read, and why, in words. */
export class UnreadableXml extends Error {}

const DEEPEST = 32
const MOST = 200_000

/** The five entities of XML and no others: what a document defines for itself is not looked at. */
const options = { xmlns: true, position: false, strictEntities: true }

const opened = ({ local, uri, attributes }: QualifiedTag): XmlElement => ({
  name: local,
  namespace: uri,
  attributes: new Map(Object.values(attributes).map(({ local, value }) => [local, value])),
  children: [],
  text: '',
})

/**
 * A document from somebody else, as a tree. A document type is refused before anything is read: entities that grow, or
 * that reach for other files, are defined nowhere else. It is read piece by piece, so that nesting costs no stack.
 */
export function readXml(text: string): XmlElement {
  if (/<!DOCTYPE/i.test(text)) throw new UnreadableXml('A document type is not accepted.')
  const document: XmlElement = { name: '', namespace: '', attributes: new Map(), children: [], text: '' }
  const way: XmlElement[] = [document]
  let count = 0
  const parser = sax.parser(true, options)
  parser.onerror = error => {
    throw new UnreadableXml(`It is not well-formed: ${error.message.split('\n')[0]}.`)
  }
  parser.onopentag = tag => {
    if (way.length === 1 && document.children.length > 0)
      throw new UnreadableXml('It is not well-formed: it goes on after its end.')
    const element = opened(tag as QualifiedTag)
    way.at(-1)?.children.push(element)
    if (way.push(element) > DEEPEST + 1)
      throw new UnreadableXml(`It is nested more than ${DEEPEST} levels deep.`)
    if (++count > MOST) throw new UnreadableXml(`It has more than ${MOST} elements.`)
  }
  parser.onclosetag = () => void way.pop()
  const add = (piece: string): void => {
    if (piece.includes('\0') || !piece.isWellFormed()) throw new UnreadableXml('It has what is no character.')
    const element = way.at(-1)
    if (element) element.text += piece
  }
  parser.ontext = add
  parser.oncdata = add
  parser.write(text).close()
  const [root] = document.children
  if (!root) throw new UnreadableXml('There is nothing in it.')
  return root
}

/** The elements to which a path of names leads: `NtryDtls/TxDtls`. */
export const allAt = (element: XmlElement, path: string): XmlElement[] =>
  path
    .split('/')
    .reduce<XmlElement[]>(
      (found, name) => found.flatMap(({ children }) => children.filter(child => child.name === name)),
      [element],
    )

/** The text of the first of them, without the space around it; null where there is none. */
export function textAt(element: XmlElement, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = allAt(element, path)[0]?.text.trim()
    if (text) return text
  }
  return null
}
