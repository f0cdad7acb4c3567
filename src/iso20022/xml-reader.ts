import sax, { type QualifiedTag } from 'sax'

export interface XmlElement {
  readonly name: string
  readonly namespace: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: XmlElement[]
  text: string
}

/** Thrown for a file that cannot be read; its sender sees the message. */
export class UnreadableXml extends Error {}

/** Limits far above any bank's message, enforced while parsing so that a hostile file costs little. */
const MOST_LEVELS = 32
const MOST_ELEMENTS = 200_000
const MOST_ATTRIBUTES = 32
const LONGEST_TAG = 8_192
const LONGEST_TEXT = 65_536
/** Characters passed to the parser at a time: an unfinished start tag is measured between two pieces. */
const PIECE = 4_096

/** `strictEntities` allows the five predefined entities only. */
const options = { xmlns: true, position: true, strictEntities: true }

/**
 * Parses an untrusted document into a tree, in time linear to its length. A document type is refused first:
 * only there can entities be defined that expand without bound or read other files.
 */
export function parseXml(text: string): XmlElement {
  const doctype = text.search(/<!DOCTYPE/i)
  if (doctype !== -1)
    throw new UnreadableXml(`A document type is not accepted (line ${lineAt(text, doctype)}).`)
  const reader = new TreeReader()
  for (let from = 0; from < text.length; from += PIECE) reader.read(text.slice(from, from + PIECE))
  return reader.end()
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Builds the tree from the parser's events. Open elements are kept in a list, so that deep nesting uses no stack. */
class TreeReader {
  readonly #parser = sax.parser(true, options)
  readonly #document: XmlElement = newElement({ local: '', uri: '', attributes: {} })
  readonly #open: XmlElement[] = [this.#document]
  #elements = 0
  #tag: string | null = null

  constructor() {
    const parser = this.#parser
    parser.onerror = ({ message }) => this.#refuse(readableMessage(message.split('\n')[0] ?? ''))
    parser.onopentagstart = ({ name }) => {
      this.#tag = name
    }
    parser.onopentag = tag => this.#begin(tag as QualifiedTag)
    parser.onclosetag = () => void this.#open.pop()
    parser.ontext = piece => this.#add(piece)
    parser.oncdata = piece => this.#add(piece)
  }

  read(piece: string): void {
    const { startTagPosition } = this.#parser.write(piece)
    if (this.#tag !== null && this.#parser.position - startTagPosition > LONGEST_TAG)
      this.#refuse(`the start tag of ${shortened(this.#tag)} is longer than ${LONGEST_TAG} characters`)
  }

  end(): XmlElement {
    this.#parser.close()
    const [root] = this.#document.children
    return root ?? this.#refuse('it is empty')
  }

  #begin(tag: QualifiedTag): void {
    this.#tag = null
    const name = shortened(tag.name)
    if (this.#open.length === 1 && this.#document.children.length > 0)
      this.#refuse('it is not well-formed: it continues after its end')
    if (Object.keys(tag.attributes).length > MOST_ATTRIBUTES)
      this.#refuse(`the element ${name} has more than ${MOST_ATTRIBUTES} attributes`)
    if (this.#open.length > MOST_LEVELS)
      this.#refuse(`the element ${name} is nested more than ${MOST_LEVELS} levels deep`)
    if (++this.#elements > MOST_ELEMENTS) this.#refuse(`it has more than ${MOST_ELEMENTS} elements`)
    const element = newElement(tag)
    this.#open.at(-1)?.children.push(element)
    this.#open.push(element)
  }

  #add(piece: string): void {
    const element = this.#open.at(-1)
    if (!element) return
    if (piece.includes('\0') || !piece.isWellFormed()) this.#refuse('it has an invalid character')
    // Whitespace between elements is dropped: long lists are full of it.
    const isSpace = element.children.length > 0 && piece.trim() === ''
    if (isSpace) return
    if (element.text.length + piece.length > LONGEST_TEXT)
      this.#refuse(`its text is longer than ${LONGEST_TEXT} characters`)
    element.text += piece
  }

  #refuse(why: string): never {
    const path = this.#open.slice(1).map(({ name }) => shortened(name))
    const where = [path.length > 0 && `in ${path.join('/')}`, `line ${this.#parser.line + 1}`]
    throw new UnreadableXml(
      `${why.replace(/^./, first => first.toUpperCase())} (${where.filter(Boolean).join(', ')}).`,
    )
  }
}

const newElement = ({
  local,
  uri,
  attributes,
}: Pick<QualifiedTag, 'local' | 'uri' | 'attributes'>): XmlElement => ({
  name: local,
  namespace: uri,
  attributes: new Map(Object.values(attributes).map(({ local, value }) => [local, value])),
  children: [],
  text: '',
})

/** Rewords the parser's own limit on the length of names, comments and references. */
const readableMessage = (message: string): string =>
  message.startsWith('Max buffer length exceeded')
    ? 'it has a name, a comment or a reference that is longer than 65536 characters'
    : `it is not well-formed: ${message}`

const shortened = (name: string): string => (name.length > 40 ? `${name.slice(0, 39)}…` : name)

export const elementsAt = (element: XmlElement, path: string): XmlElement[] =>
  path
    .split('/')
    .reduce<XmlElement[]>(
      (elements, name) => elements.flatMap(({ children }) => children.filter(child => child.name === name)),
      [element],
    )

/** The trimmed text of the first element at the first of these paths that has any; null if none has. */
export function textAt(element: XmlElement, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = elementsAt(element, path)[0]?.text.trim()
    if (text) return text
  }
  return null
}
