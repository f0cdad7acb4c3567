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

/** No message of a bank comes near these: what is beyond them is refused as soon as it is seen. */
const MOST_LEVELS = 32
const MOST_ELEMENTS = 200_000
const MOST_ATTRIBUTES = 32
/** In characters: a start tag with all its attributes, and the text of one element. */
const LONGEST_TAG = 8_192
const LONGEST_TEXT = 65_536
/** The parser is fed so much at a time. Between two pieces the tag that is still open is measured. */
const PIECE = 4_096

/** The five entities of XML and no others: what a document defines for itself is not looked at. */
const options = { xmlns: true, position: true, strictEntities: true }

/**
 * A document from somebody else, as a tree. A document type is refused before anything is read: entities that grow, or
 * that reach for other files, are defined nowhere else. The time it takes grows with its length and with nothing else.
 */
export function readXml(text: string): XmlElement {
  const doctype = text.search(/<!DOCTYPE/i)
  if (doctype !== -1)
    throw new UnreadableXml(`A document type is not accepted (line ${lineAt(text, doctype)}).`)
  const reader = new TreeReader()
  for (let from = 0; from < text.length; from += PIECE) reader.read(text.slice(from, from + PIECE))
  return reader.end()
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Builds the tree while the parser reads. Open elements stand in a list, so that nesting costs no stack. */
class TreeReader {
  readonly #parser = sax.parser(true, options)
  readonly #document: XmlElement = newElement({ local: '', uri: '', attributes: {} })
  readonly #open: XmlElement[] = [this.#document]
  #elements = 0
  /** The name of the start tag that has begun and not ended. */
  #tag: string | null = null

  constructor() {
    const parser = this.#parser
    parser.onerror = ({ message }) => this.#refuse(wordsFor(message.split('\n')[0] ?? ''))
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
    return root ?? this.#refuse('there is nothing in it')
  }

  #begin(tag: QualifiedTag): void {
    this.#tag = null
    const name = shortened(tag.name)
    if (this.#open.length === 1 && this.#document.children.length > 0)
      this.#refuse('it is not well-formed: it goes on after its end')
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
    if (piece.includes('\0') || !piece.isWellFormed()) this.#refuse('it has what is no character')
    // The space between elements is no text of theirs, and a long list has much of it.
    const isSpace = element.children.length > 0 && piece.trim() === ''
    if (isSpace) return
    if (element.text.length + piece.length > LONGEST_TEXT)
      this.#refuse(`its text is longer than ${LONGEST_TEXT} characters`)
    element.text += piece
  }

  /** Says where, too: in which element, and in which line of the file. */
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

/** The parser has a bound of its own for what it must keep until its end: names, comments and the like. */
const wordsFor = (message: string): string =>
  message.startsWith('Max buffer length exceeded')
    ? 'it has a name, a comment or a reference that is longer than 65536 characters'
    : `it is not well-formed: ${message}`

/** A name that the sender chose, in as many letters as a refusal needs. */
const shortened = (name: string): string => (name.length > 40 ? `${name.slice(0, 39)}…` : name)

/** The elements to which a path of names leads: `NtryDtls/TxDtls`. */
export const elementsAt = (element: XmlElement, path: string): XmlElement[] =>
  path
    .split('/')
    .reduce<XmlElement[]>(
      (found, name) => found.flatMap(({ children }) => children.filter(child => child.name === name)),
      [element],
    )

/** The text of the first of them, without the space around it; null where there is none. */
export function textAt(element: XmlElement, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = elementsAt(element, path)[0]?.text.trim()
    if (text) return text
  }
  return null
}
