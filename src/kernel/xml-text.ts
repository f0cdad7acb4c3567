import { UnreadableXml } from './xml.ts'

/** The text of an XML file, in the encoding that it names; every one that is not UTF-8 is rare. */
export function xmlText(bytes: Buffer): string {
  const [, label = 'utf-8'] =
    /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(bytes.toString('latin1', 0, 200)) ?? []
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableXml(`It is not written in ${label}.`)
  }
}
