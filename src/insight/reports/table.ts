import type { File } from '../../kernel/contract/file.ts'
import { type CsvColumns, csvOf } from '../../values/csv.ts'
import type { Span } from '../spend/index.ts'
import { shownSpan } from './scope.ts'

/** A report as a file to save. */
export function tableFile<T>(report: string, span: Span, columns: CsvColumns<T>, rows: readonly T[]): File {
  const { from, to } = shownSpan(span)
  return {
    type: 'text/csv; charset=utf-8; header=present',
    name: `${report}-${from}-${to}.csv`,
    content: csvOf(columns, rows),
  }
}
