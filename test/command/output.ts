import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { CommandIo } from '../../src/command/io.ts'
import { printsJson, printValue } from '../../src/command/output/print.ts'
import {
  displayWidth,
  escapedJson,
  escapeText,
  terminalStyle,
  truncateToWidth,
} from '../../src/command/output/terminal.ts'
import { escapeLine } from '../../src/values/terminal-text.ts'

function printed(value: unknown, columns?: number): string {
  let text = ''
  const stdout = {
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    write: (piece: string | Uint8Array) => {
      text += piece
    },
  }
  printValue(value, {
    io: { stdout, stderr: stdout, env: { NO_COLOR: '1' } } as unknown as CommandIo,
    asJson: false,
  })
  return text
}

const page = (...data: unknown[]) => ({ data, hasMore: false, nextCursor: null })

describe('what is printed for people', () => {
  test('is a table with amounts, instants and ids below each other', () => {
    const rows = [
      { createdAt: '2026-11-20T09:30:00.000Z', id: 'intent_1', amountEuros: 9.5, metadata: {} },
      { createdAt: '2026-11-20T09:31:00.000Z', id: 'intent_22', amountEuros: 1200, metadata: {} },
    ]
    expect(printed(page(...rows))).toBe(
      [
        'id         amountEuros  createdAt',
        'intent_1          9.50  2026-11-20 09:30:00Z',
        'intent_22      1200.00  2026-11-20 09:31:00Z',
        '',
      ].join('\n'),
    )
  })

  test('keeps ids whole and leaves out columns that find no room', () => {
    const id = `intent_${'0'.repeat(26)}`
    const table = printed(page({ id, name: 'A', purpose: 'x'.repeat(40), amountEuros: 1 }), 60)
    expect(table).toContain(id)
    for (const line of table.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(60)
  })

  test('is each member of a record, inner ones after a dot, lists of records as tables', () => {
    expect(
      printed({ id: 'a', limits: { dailyEuros: 5 }, tags: ['x', 'y'], none: null, parts: [{ n: 1 }] }),
    ).toBe(
      'id                 a\nlimits.dailyEuros  5.00\ntags               x, y\nnone               –\n\nparts\nn\n1\n',
    )
  })

  test('omits columns that are empty in every row, and puts the least informative columns last', () => {
    const row = { ownerId: 'customer_1', mode: 'test', id: 'a', frozenReason: null, agentId: 'agent_1' }
    expect(printed(page(row))).toBe('id  agentId  ownerId     mode\na   agent_1  customer_1  test\n')
  })

  test('shows what a wallet holds before anything that has less to tell', () => {
    const wallet = { id: 'wallet_1', createdAt: '2026-11-20T09:30:00.000Z', iban: 'DE1', heldEuros: 1 }
    const room = 'wallet_1  availableEuros  heldEuros'.length
    expect(printed(page({ ...wallet, availableEuros: 500 }), room)).toMatch(
      /^id +availableEuros +heldEuros\nwallet_1 +500\.00 +1\.00\n$/,
    )
  })

  test('says when there is nothing, and when there is more', () => {
    expect(printed(page())).toBe('None.\n')
    expect(printed({ data: [{ id: 'a' }], hasMore: true, nextCursor: 'abc' })).toBe(
      'id\na\nMore results: use --cursor abc, or --all for all.\n',
    )
  })

  test('has wide letters below each other', () => {
    expect(printed(page({ id: 'a', name: '会議' }, { id: 'b', name: 'e\u0301' }))).toBe(
      'id  name\na   会議\nb   e\u0301\n',
    )
    expect(truncateToWidth('会議室で', 5)).toBe('会議…')
  })

  test('never shows fewer digits of an amount than there are', () => {
    expect(printed({ amountEuros: 0.001 })).toBe('amountEuros  0.001\n')
  })
})

/** Characters that a terminal interprets. */
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

describe('a text of the service', () => {
  const evil = 'a\u001b[2J\u009b31m\u202eb\r\nc\u0007\u2066'

  test('cannot move the terminal', () => {
    expect(escapeLine(evil)).toBe('a\\u001b[2J\\u009b31m\\u202eb\\u000d c\\u0007\\u2066')
    expect(escapeText('a\tb\n\u001b')).toBe('a\tb\n\\u001b')
    expect(printed({ [evil]: evil }).replaceAll('\n', '')).not.toMatch(OBEYED)
  })

  test('means the same in JSON, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const json = escapedJson({ text })
        expect(JSON.parse(json)).toEqual({ text })
        expect(json.replaceAll('\n', '')).not.toMatch(OBEYED)
      }),
    )
  })
})

describe('the form', () => {
  const io = (isTTY?: true) => ({ stdout: { isTTY } }) as unknown as CommandIo

  test('is a table on a terminal and JSON in a pipe unless an option chooses', () => {
    expect([printsJson(io(true), {}), printsJson(io(), {})]).toEqual([false, true])
    expect([printsJson(io(true), { json: true }), printsJson(io(), { table: true })]).toEqual([true, false])
  })

  test('has colour on a terminal that wants it, and nowhere else', () => {
    const bold = (isTTY: boolean, env: CommandIo['env']) =>
      terminalStyle({ isTTY, write: () => undefined }, env).bold('a') !== 'a'
    expect(bold(true, {})).toBe(true)
    expect(bold(true, { NO_COLOR: '1' })).toBe(false)
    expect(bold(true, { TERM: 'dumb' })).toBe(false)
    expect(bold(false, {})).toBe(false)
  })
})
