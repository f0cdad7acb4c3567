import { type Euros, formatAmount } from '../../values/money.ts'
import type { Movement } from './movements.ts'
import { LEFT, PdfDocument, RIGHT } from './pdf-document.ts'
import type { Statement } from './statement.ts'

/** So many movements a page has room for: on the first one there is less. */
const ON_FIRST = 18
const ON_OTHERS = 25
/** The summing up takes as much room as so many of them. */
const SUMMING_UP = 3
const ROW = 27

const columns = { booked: LEFT, value: LEFT + 58, what: LEFT + 116, amount: RIGHT - 84, balance: RIGHT }
const WHAT_WIDTH = 226

/** On which page a line stands. All are of one height, so the number of pages is known before the first one is sent. */
const pageOf = (line: number): number => (line < ON_FIRST ? 1 : 2 + Math.floor((line - ON_FIRST) / ON_OTHERS))

const rowOnPage = (line: number): number => (line < ON_FIRST ? line : (line - ON_FIRST) % ON_OTHERS)

/** A form of the statement that is made while it is sent: nothing is read before the page before has gone. */
export async function* pdfOf(
  statement: Statement,
  pages: AsyncIterable<readonly Movement[]>,
): AsyncGenerator<Uint8Array> {
  const sheet = new StatementPdf(statement)
  sheet.first()
  for await (const page of pages)
    for (const movement of page) {
      if (sheet.isFull()) yield* sheet.turn()
      sheet.addMovement(movement)
    }
  if (sheet.isFull(SUMMING_UP)) yield* sheet.turn()
  sheet.addTotals()
  yield* sheet.end()
}

class StatementPdf {
  readonly #statement: Statement
  readonly #paper: PdfDocument
  readonly #pages: number
  #line = 0
  #top = 0

  constructor(statement: Statement) {
    const { holder, updatedAt } = statement
    this.#statement = statement
    this.#pages = pageOf(Number(statement.movements) + SUMMING_UP - 1)
    this.#paper = new PdfDocument({
      title: `Account statement ${monthIn(statement)}`,
      author: holder,
      madeAt: updatedAt,
    })
  }

  /** Whether this page has no room for so many lines more. */
  isFull(lines = 1): boolean {
    return pageOf(this.#line + lines - 1) > this.#paper.page
  }

  first(): void {
    const { holder, iban, bic, walletId, period, status, from, updatedAt } = this.#statement
    const paper = this.#paper
    paper.text('Account statement', LEFT, 48, { font: 'bold', size: 20 })
    paper.text(monthIn(this.#statement), LEFT, 76, { size: 12, colour: 'faint' })
    paper.text(`No. ${period}`, RIGHT, 54, { font: 'bold', size: 11, endsThere: true })
    const state = status === 'final' ? 'Final' : 'Interim: the month still runs'
    paper.text(state, RIGHT, 76, { size: 9, colour: 'faint', endsThere: true })
    paper.line(102, 'ink')
    const facts: readonly (readonly [string, string | null])[] = [
      ['Account holder', holder],
      ['IBAN', iban && inGroups(iban)],
      ['BIC', bic],
      ['Wallet', walletId],
      ['Period', `${dateOf(from)} – ${dateOf(lastDayOf(this.#statement))} (UTC)`],
      ['Drawn up', `${dateOf(updatedAt)}, ${updatedAt.toISOString().slice(11, 16)} UTC`],
    ]
    const there = facts.filter(([, fact]) => fact !== null)
    for (const [index, [name, fact]] of there.entries()) {
      paper.text(name, LEFT, 116 + index * 15, { colour: 'faint', size: 9 })
      paper.text(fact ?? '', LEFT + 92, 116 + index * 15, { size: 9, width: RIGHT - LEFT - 92 })
    }
    this.#balances(222)
    this.#tableHead(284)
    this.#foot()
  }

  *turn(): Generator<Uint8Array> {
    const { holder, iban, walletId } = this.#statement
    this.#paper.addPage()
    yield* this.#paper.finishedBytes()
    this.#line = ON_FIRST + (this.#paper.page - 2) * ON_OTHERS
    const small = { size: 8, colour: 'faint' } as const
    this.#paper.text(`${holder} · ${iban ? inGroups(iban) : walletId}`, LEFT, 48, { ...small, width: 340 })
    this.#paper.text(`Account statement ${monthIn(this.#statement)}`, RIGHT, 48, {
      ...small,
      endsThere: true,
    })
    this.#tableHead(70)
    this.#foot()
  }

  addMovement({ bookedAt, valueDate, kind, name, amountEuros, balanceEuros, ...other }: Movement): void {
    const [paper, y] = [this.#paper, this.#next()]
    // Below the amounts there is room.
    const small = { size: 7.5, colour: 'faint', width: RIGHT - columns.what } as const
    paper.text(dateOf(bookedAt), columns.booked, y)
    paper.text(dateOf(new Date(valueDate)), columns.value, y)
    paper.text(name ?? kind.words, columns.what, y, { width: WHAT_WIDTH })
    paper.text(signed(amountEuros), columns.amount, y, { endsThere: true })
    paper.text(figure(balanceEuros), columns.balance, y, { endsThere: true })
    const account = other.iban ? inGroups(other.iban) : other.walletId
    const details = [name === null ? null : kind.words, account, other.reference]
    paper.text(details.filter(Boolean).join(' · '), columns.what, y + 11, small)
    paper.line(y + ROW - 6)
  }

  addTotals(): void {
    const { movements, inEuros, outEuros, closingEuros, status, to } = this.#statement
    const [paper, y] = [this.#paper, this.#next() + 4]
    const isFinal = status === 'final'
    const bold = { font: 'bold', endsThere: true } as const
    const sums = [
      [`Money in`, signed(inEuros)],
      [`Money out`, signed(-outEuros)],
    ] as const
    paper.text(`${movements} ${movements === 1n ? 'movement' : 'movements'}`, columns.booked, y)
    for (const [index, [words, sum]] of sums.entries()) {
      paper.text(words, columns.what, y + index * 13)
      paper.text(sum, columns.amount, y + index * 13, { endsThere: true })
    }
    paper.line(y + 30, 'ink')
    const at = isFinal
      ? dateOf(lastDayOf(this.#statement))
      : `${dateOf(to)}, ${to.toISOString().slice(11, 16)} UTC`
    paper.text(`Closing balance at ${at}`, columns.booked, y + 38, { font: 'bold' })
    paper.text(`EUR ${figure(closingEuros)}`, columns.balance, y + 38, bold)
    if (isFinal) return
    paper.text('Of the month that still runs: what is booked later is not in it.', LEFT, y + 54, {
      size: 7.5,
      colour: 'faint',
    })
  }

  async *end(): AsyncGenerator<Uint8Array> {
    yield* this.#paper.end()
  }

  #next(): number {
    return this.#top + rowOnPage(this.#line++) * ROW
  }

  #balances(y: number): void {
    const { openingEuros, inEuros, outEuros, closingEuros } = this.#statement
    const figures = [
      ['Opening balance', figure(openingEuros)],
      ['Money in', signed(inEuros)],
      ['Money out', signed(-outEuros)],
      ['Closing balance', figure(closingEuros)],
    ] as const
    this.#paper.band(y, 48)
    for (const [index, [name, figure]] of figures.entries()) {
      const x = LEFT + 12 + index * 124
      this.#paper.text(name, x, y + 10, { size: 8, colour: 'faint' })
      this.#paper.text(`EUR ${figure}`, x, y + 24, { size: 10.5, font: 'bold' })
    }
  }

  #tableHead(y: number): void {
    const head = { font: 'bold', size: 8 } as const
    this.#paper.text('Booked', columns.booked, y, head)
    this.#paper.text('Value date', columns.value, y, head)
    this.#paper.text('Movement', columns.what, y, head)
    this.#paper.text('Amount, EUR', columns.amount, y, { ...head, endsThere: true })
    this.#paper.text('Balance, EUR', columns.balance, y, { ...head, endsThere: true })
    this.#paper.line(y + 14, 'ink')
    this.#top = y + 21
  }

  #foot(): void {
    const small = { size: 7.5, colour: 'faint' } as const
    const { id } = this.#statement
    this.#paper.text(id, LEFT, 806, small)
    this.#paper.text(`Page ${this.#paper.page} of ${this.#pages}`, RIGHT, 806, { ...small, endsThere: true })
  }
}

const lastDayOf = ({ to }: Statement): Date => new Date(to.getTime() - 1)

const inEnglish = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
const month = inEnglish({ month: 'long', year: 'numeric' })
const day = inEnglish({ day: '2-digit', month: 'short', year: 'numeric' })

const monthIn = ({ from }: Statement): string => month.format(from)
/** The month in letters: nobody takes it for the day. */
const dateOf = (at: Date): string => day.format(at)

const figure = (euros: Euros): string => formatAmount(euros).replace('-', '−')
const signed = (euros: Euros): string => (euros > 0n ? `+${figure(euros)}` : figure(euros))
const inGroups = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ')
