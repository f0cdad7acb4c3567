import type { bundlePdf } from '../../../commerce/disputes/thread.ts'
import type { Report, ReportField } from './report.ts'

type PdfInput = Parameters<typeof bundlePdf>[0]

interface About {
  readonly incidentId: string
  readonly title: string
  readonly holder: string
  readonly madeAt: Date
  readonly dueAt: Date | null
  readonly article: string | null
}

/** With the year: a report is read years later. */
const minuteOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const COLUMNS = [
  { name: 'No.', share: 0.07 },
  { name: 'Field', share: 0.38 },
  { name: 'Entry', share: 0.55 },
] as const

const rowOf = ({ number, name, value, isMissing }: ReportField): readonly string[] => [
  number,
  name,
  value ?? (isMissing ? 'MISSING' : '–'),
]

/** How the report looks on paper: the same fields in the same order, and first of all what is missing. */
export function pdfInput({ sections, missing }: Report, about: About): PdfInput {
  const { incidentId, title, holder, madeAt, dueAt, article } = about
  const standing = missing.length === 0 ? 'complete' : `${missing.length} fields are missing`
  return {
    title,
    subtitle: `${holder} · ${standing}`,
    author: holder,
    foot: `${incidentId} · as known at ${minuteOf(madeAt)}`,
    madeAt: madeAt.toISOString(),
    sections: [
      {
        title: 'Deadline',
        blocks: [
          {
            kind: 'facts',
            rows: [
              ['Due', dueAt ? minuteOf(dueAt) : 'no clock runs'],
              ['Rule', article ?? '–'],
            ],
          },
        ],
      },
      ...(missing.length > 0
        ? [{ title: 'Missing', blocks: [{ kind: 'text' as const, text: missing.join('\n') }] }]
        : []),
      ...sections.map(section => ({
        title: section.title,
        blocks: [{ kind: 'table' as const, columns: COLUMNS, rows: section.fields.map(rowOf) }],
      })),
    ],
    pictures: [],
  }
}
