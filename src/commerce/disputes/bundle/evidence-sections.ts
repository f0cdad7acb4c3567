import type { Facts } from './collect-facts.ts'
import type { Block, Picture, Section } from './input.ts'
import { facts, timeInWords } from './sections.ts'

/** What was kept when it happened: its SHA-256 and the time at which it came prove that it was not made up later. */
export function evidenceSections({ evidence }: Facts): Section[] {
  if (evidence.length === 0) return []
  const blocks = evidence.flatMap((piece, index): Block[] => [
    facts([
      [`${index + 1}. ${piece.type}`, piece.note ?? piece.fileName ?? 'no note'],
      ['Received', timeInWords(piece.receivedAt)],
      [
        'File',
        piece.text === null
          ? `${piece.fileName ?? 'no name'}, ${piece.mediaType}, ${piece.bytes} bytes`
          : null,
      ],
      ['SHA-256', piece.sha256],
      ['Evidence', piece.id],
    ]),
    ...(piece.text === null ? [] : [{ kind: 'text', text: excerptOf(piece.text) } as const]),
  ])
  return [{ title: 'Evidence', blocks }]
}

/** A letter of five pages; fifty texts of nothing but ends of lines would take longer than a thread has. */
const MOST_LINES = 300

/** What a bundle shows of a text: what is left out is named, and its SHA-256 is that of the whole. */
function excerptOf(text: string): string {
  const shown = text.split('\n', MOST_LINES).join('\n')
  if (shown.length === text.length) return text
  return `${shown.trimEnd()}\n… ${text.length - shown.length} of its ${text.length} characters are left out here.`
}

/** The papers that were sent for the payment, as they came. */
export function receiptSections({ receipts }: Facts): Section[] {
  if (receipts.length === 0) return []
  const blocks = receipts.map((receipt, index) =>
    facts([
      [
        `${index + 1}. receipt`,
        `${receipt.fileName ?? 'no name'}, ${receipt.mediaType}, ${receipt.bytes} bytes`,
      ],
      ['Stands', receipt.status],
      ['Received', timeInWords(receipt.receivedAt)],
      ['SHA-256', receipt.sha256],
      ['Receipt', receipt.id],
    ]),
  )
  return [{ title: 'Receipts', blocks }]
}

/** The most files that are shown; all of them are named. */
const MOST_PICTURES = 20

/** What the files show, each on a page of its own: of a document its first page. */
export function picturesOf({ receipts, evidence }: Facts): Picture[] {
  const papers = receipts.map(
    ({ sha256, mediaType, largeSha256 }, index): Picture => ({
      title: `Receipt ${index + 1}`,
      sha256,
      kind: mediaType,
      viewSha256: largeSha256,
    }),
  )
  const pieces = evidence.flatMap(({ sha256, mediaType, note, viewSha256 }, index): Picture[] =>
    mediaType === 'text/plain'
      ? []
      : [
          {
            title: `Evidence ${index + 1}${note === null ? '' : `: ${note}`}`,
            sha256,
            kind: mediaType,
            viewSha256,
          },
        ],
  )
  return [...papers, ...pieces].slice(0, MOST_PICTURES)
}
