import { type Cents, formatAmount, negateCents } from '../../values/money.ts'
import { formatOriginal } from '../../values/original-amount.ts'
import { chargedRate, type StatementMovement } from './movements.ts'
import { PAGE_LEFT_PT, PAGE_RIGHT_PT, PdfDocument } from './pdf-document.ts'
import type { Statement } from './statement.ts'

const FIRST_PAGE_ROWS = 18
const NEXT_PAGE_ROWS = 25
const TOTALS_ROWS = 3
const ROW_HEIGHT = 27

const columns = {
  booked: PAGE_LEFT_PT,
  value: PAGE_LEFT_PT + 58,
  what: PAGE_LEFT_PT + 116,
  amount: PAGE_RIGHT_PT - 84,
  balance: PAGE_RIGHT_PT,
}
const WHAT_WIDTH = 226

/** Rows have one height, so the number of pages is known before the first page is sent. */
const pageOf = (row: number): number =>
  row < FIRST_PAGE_ROWS ? 1 : 2 + Math.floor((row - FIRST_PAGE_ROWS) / NEXT_PAGE_ROWS)

const rowOnPage = (row: number): number =>
  row < FIRST_PAGE_ROWS ? row : (row - FIRST_PAGE_ROWS) % NEXT_PAGE_ROWS

/** Writes page by page: the next movements are read once the previous page has been sent. */
export async function* pdfOf(
  statement: Statement,
  pages: AsyncIterable<readonly StatementMovement[]>,
): AsyncGenerator<Uint8Array> {
  const pdf = new StatementPdf(statement)
  pdf.addFirstPage()
  for await (const page of pages)
    for (const movement of page) {
      if (pdf.isFull()) yield* pdf.nextPage()
      pdf.addMovement(movement)
    }
  if (pdf.isFull(TOTALS_ROWS)) yield* pdf.nextPage()
  pdf.addTotals()
  yield* pdf.end()
}

class StatementPdf {
  readonly #statement: Statement
  readonly #document: PdfDocument
  readonly #pages: number
  #row = 0
  #top = 0

  constructor(statement: Statement) {
    const { holder, updatedAt } = statement
    this.#statement = statement
    this.#pages = pageOf(Number(statement.movements) + TOTALS_ROWS - 1)
    this.#document = new PdfDocument({
      title: `Account statement ${monthIn(statement)}`,
      author: holder,
      madeAt: updatedAt,
    })
  }

  isFull(rows = 1): boolean {
    return pageOf(this.#row + rows - 1) > this.#document.page
  }

  addFirstPage(): void {
    const { holder, iban, bic, walletId, period, status, from, updatedAt } = this.#statement
    const document = this.#document
    document.text('Account statement', PAGE_LEFT_PT, 48, { font: 'bold', size: 20 })
    document.text(monthIn(this.#statement), PAGE_LEFT_PT, 76, { size: 12, colour: 'faint' })
    document.text(`No. ${period}`, PAGE_RIGHT_PT, 54, { font: 'bold', size: 11, alignRight: true })
    const state = status === 'final' ? 'Final' : 'Interim: the month is not over'
    document.text(state, PAGE_RIGHT_PT, 76, { size: 9, colour: 'faint', alignRight: true })
    document.line(102, 'ink')
    const facts: readonly (readonly [string, string | null])[] = [
      ['Account holder', holder],
      ['IBAN', iban && inGroups(iban)],
      ['BIC', bic],
      ['Wallet', walletId],
      ['Period', `${dateOf(from)} – ${dateOf(lastDayOf(this.#statement))} (UTC)`],
      ['Drawn up', `${dateOf(updatedAt)}, ${updatedAt.toISOString().slice(11, 16)} UTC`],
    ]
    const shown = facts.filter(([, fact]) => fact !== null)
    for (const [index, [name, fact]] of shown.entries()) {
      document.text(name, PAGE_LEFT_PT, 116 + index * 15, { colour: 'faint', size: 9 })
      document.text(fact ?? '', PAGE_LEFT_PT + 92, 116 + index * 15, {
        size: 9,
        width: PAGE_RIGHT_PT - PAGE_LEFT_PT - 92,
      })
    }
    this.#balances(222)
    this.#tableHead(284)
    this.#foot()
  }

  *nextPage(): Generator<Uint8Array> {
    const { holder, iban, walletId } = this.#statement
    this.#document.addPage()
    yield* this.#document.finishedBytes()
    this.#row = FIRST_PAGE_ROWS + (this.#document.page - 2) * NEXT_PAGE_ROWS
    const small = { size: 8, colour: 'faint' } as const
    this.#document.text(`${holder} · ${iban ? inGroups(iban) : walletId}`, PAGE_LEFT_PT, 48, {
      ...small,
      width: 340,
    })
    this.#document.text(`Account statement ${monthIn(this.#statement)}`, PAGE_RIGHT_PT, 48, {
      ...small,
      alignRight: true,
    })
    this.#tableHead(70)
    this.#foot()
  }

  addMovement(movement: StatementMovement): void {
    const { bookedAt, valueDate, kind, name, amountCents, balanceCents, ...other } = movement
    const document = this.#document
    const y = this.#nextY()
    const small = { size: 7.5, colour: 'faint', width: PAGE_RIGHT_PT - columns.what } as const
    document.text(dateOf(bookedAt), columns.booked, y)
    document.text(dateOf(new Date(valueDate)), columns.value, y)
    document.text(name ?? kind.words, columns.what, y, { width: WHAT_WIDTH })
    document.text(signed(amountCents), columns.amount, y, { alignRight: true })
    document.text(figure(balanceCents), columns.balance, y, { alignRight: true })
    const account = other.iban ? inGroups(other.iban) : other.walletId
    const details = [name === null ? null : kind.words, originalOf(movement), account, other.reference]
    document.text(details.filter(Boolean).join(' · '), columns.what, y + 11, small)
    document.line(y + ROW_HEIGHT - 6)
  }

  addTotals(): void {
    const { movements, inCents, outCents, closingCents, status, to } = this.#statement
    const document = this.#document
    const y = this.#nextY() + 4
    const isFinal = status === 'final'
    const bold = { font: 'bold', alignRight: true } as const
    const sums = [
      [`Money in`, signed(inCents)],
      [`Money out`, signed(negateCents(outCents))],
    ] as const
    document.text(`${movements} ${movements === 1n ? 'movement' : 'movements'}`, columns.booked, y)
    for (const [index, [words, sum]] of sums.entries()) {
      document.text(words, columns.what, y + index * 13)
      document.text(sum, columns.amount, y + index * 13, { alignRight: true })
    }
    document.line(y + 30, 'ink')
    const at = isFinal
      ? dateOf(lastDayOf(this.#statement))
      : `${dateOf(to)}, ${to.toISOString().slice(11, 16)} UTC`
    document.text(`Closing balance at ${at}`, columns.booked, y + 38, { font: 'bold' })
    document.text(`EUR ${figure(closingCents)}`, columns.balance, y + 38, bold)
    if (isFinal) return
    document.text('The month is not over: later movements are not included.', PAGE_LEFT_PT, y + 54, {
      size: 7.5,
      colour: 'faint',
    })
  }

  async *end(): AsyncGenerator<Uint8Array> {
    yield* this.#document.end()
  }

  #nextY(): number {
    return this.#top + rowOnPage(this.#row++) * ROW_HEIGHT
  }

  #balances(y: number): void {
    const { openingCents, inCents, outCents, closingCents } = this.#statement
    const figures = [
      ['Opening balance', figure(openingCents)],
      ['Money in', signed(inCents)],
      ['Money out', signed(negateCents(outCents))],
      ['Closing balance', figure(closingCents)],
    ] as const
    this.#document.band(y, 48)
    for (const [index, [name, figure]] of figures.entries()) {
      const x = PAGE_LEFT_PT + 12 + index * 124
      this.#document.text(name, x, y + 10, { size: 8, colour: 'faint' })
      this.#document.text(`EUR ${figure}`, x, y + 24, { size: 10.5, font: 'bold' })
    }
  }

  #tableHead(y: number): void {
    const head = { font: 'bold', size: 8 } as const
    this.#document.text('Booked', columns.booked, y, head)
    this.#document.text('Value date', columns.value, y, head)
    this.#document.text('Movement', columns.what, y, head)
    this.#document.text('Amount, EUR', columns.amount, y, { ...head, alignRight: true })
    this.#document.text('Balance, EUR', columns.balance, y, { ...head, alignRight: true })
    this.#document.line(y + 14, 'ink')
    this.#top = y + 21
  }

  #foot(): void {
    const small = { size: 7.5, colour: 'faint' } as const
    const { id } = this.#statement
    this.#document.text(id, PAGE_LEFT_PT, 806, small)
    this.#document.text(`Page ${this.#document.page} of ${this.#pages}`, PAGE_RIGHT_PT, 806, {
      ...small,
      alignRight: true,
    })
  }
}

const originalOf = (movement: StatementMovement): string | null =>
  movement.original && `${formatOriginal(movement.original)} at ${chargedRate(movement.original, movement)}`

const lastDayOf = ({ to }: Statement): Date => new Date(to.getTime() - 1)

const inEnglish = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
const month = inEnglish({ month: 'long', year: 'numeric' })
const day = inEnglish({ day: '2-digit', month: 'short', year: 'numeric' })

const monthIn = ({ from }: Statement): string => month.format(from)
/** The month in letters, so that it cannot be taken for the day. */
const dateOf = (at: Date): string => day.format(at)

const figure = (amount: Cents): string => formatAmount(amount).replace('-', '−')
const signed = (amount: Cents): string => (amount > 0n ? `+${figure(amount)}` : figure(amount))
const inGroups = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ')
