import { legalGrounds, personalKinds } from '../../values/personal.ts'
import { memberOf, shownColumns } from './record-pages.ts'
import type { Shape } from './row-windows.ts'
import type { TableOfSubject } from './tables-of-subject.ts'

/** Members of nearly every record, which no contract explains. */
const common: Readonly<Record<string, string>> = {
  id: 'The id of the record.',
  ownerId: 'The account that it belongs to.',
  mode: '`live` for real money, `test` for play money.',
  status: 'The state that the record is in.',
  createdAt: 'When it was made.',
  updatedAt: 'When it was changed last.',
  workflowId: 'The process that looks after it.',
}

/** `merchantHost` in words: `merchant host`. */
const inWords = (member: string): string => member.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

function sentenceOf({ area, table }: TableOfSubject, column: string): string {
  const member = memberOf(column)
  const [, amount] = /^(.+)Cents$/.exec(member) ?? []
  const told = area.sentences.get(member) ?? common[member]
  if (told) return told
  if (amount) return `${area.sentences.get(`${amount}Euros`) ?? `An amount: ${inWords(amount)}.`} In cents.`
  const personal = table.personal[column]
  if (personal) return personalKinds[personal.kind]
  if (member.endsWith('At')) return `A time: when it was, or is, “${inWords(member.slice(0, -2))}”.`
  return member.endsWith('Id')
    ? `The id of the ${inWords(member.slice(0, -2))}.`
    : `The record’s ${inWords(member)}.`
}

function describe(table: TableOfSubject, column: string) {
  const personal = table.table.personal[column]
  const sentence = sentenceOf(table, column)
  if (!personal) return { sentence }
  const { law, years } = legalGrounds[personal.ground]
  return { sentence, kind: personal.kind, ground: law, keptYears: years }
}

/** The beginning of a file of records: what they are, and what each member says. It is an object that is still open. */
export function tableHead(table: TableOfSubject, shape: Shape): string {
  const columns = shownColumns(table, shape)
  const members = Object.fromEntries(columns.map(column => [memberOf(column), describe(table, column)]))
  const { area, name } = table
  const keptWhile = table.table.keptWhile?.words
  return JSON.stringify(
    { area: area.name, about: area.about, table: name, keptWhile, members },
    null,
    1,
  ).slice(0, -2)
}
