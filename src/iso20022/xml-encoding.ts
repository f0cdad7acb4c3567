import { parseXml, UnreadableXml, type XmlElement } from './xml-reader.ts'

/** The refusal of a file, as a value: an error loses its class between threads. */
export interface UnreadableFile {
  readonly unreadable: string
}

export function parseXmlFile<T>(bytes: Uint8Array, read: (document: XmlElement) => T): T | UnreadableFile {
  try {
    return read(parseXml(xmlText(Buffer.from(bytes))))
  } catch (error) {
    if (error instanceof UnreadableXml) return { unreadable: error.message }
    throw error
  }
}

/** Decodes an XML file by the encoding that its declaration names, UTF-8 if none. */
function xmlText(bytes: Buffer): string {
  const [, label = 'utf-8'] =
    /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(bytes.toString('latin1', 0, 200)) ?? []
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableXml(`It is not written in ${label}.`)
  }
}
