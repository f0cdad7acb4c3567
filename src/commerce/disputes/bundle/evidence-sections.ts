import type { Facts } from './collect-facts.ts'
import type { Block, Section } from './input.ts'
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
    ...(piece.text === null ? [] : [{ kind: 'text', text: piece.text } as const]),
  ])
  return [{ title: 'Evidence', blocks }]
}
