import { readXml, UnreadableXml, type XmlElement } from './xml-reader.ts'

/** What is answered in place of what a file says: an error keeps its kind in its own thread only. */
export interface Unreadable {
  readonly unreadable: string
}

/** What a file in XML says to this reader, or why it cannot be read. */
export function readXmlFile<T>(bytes: Uint8Array, read: (document: XmlElement) => T): T | Unreadable {
  try {
    return read(readXml(xmlText(Buffer.from(bytes))))
  } catch (error) {
    if (error instanceof UnreadableXml) return { unreadable: error.message }
    throw error
  }
}

/** The text of an XML file, in the encoding that it names; every one that is not UTF-8 is rare. */
function xmlText(bytes: Buffer): string {
  const [, label = 'utf-8'] =
    /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(bytes.toString('latin1', 0, 200)) ?? []
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableXml(`It is not written in ${label}.`)
  }
}
