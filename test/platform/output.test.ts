import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { endProgress, printLine, printProgress } from '../../src/platform/output.ts'

const CLEAR = '\r\u001b[2K'

function terminal(isTTY: boolean, columns = 40): () => string {
  let shown = ''
  jest.spyOn(process.stdout, 'write').mockImplementation(text => {
    shown += text
    return true
  })
  Object.assign(process.stdout, { isTTY, columns })
  return () => shown
}

const { isTTY, columns } = process.stdout

afterEach(() => {
  jest.restoreAllMocks()
  Object.assign(process.stdout, { isTTY, columns })
})

describe('progress', () => {
  test('is one line of a terminal, which the next one and a plain line replace', () => {
    const shown = terminal(true)
    printProgress('Starting PostgreSQL')
    printProgress('Preparing the database')
    printLine('Ready')
    printLine('Again')
    expect(shown()).toBe(`${CLEAR}Starting PostgreSQL${CLEAR}Preparing the database${CLEAR}Ready\nAgain\n`)
  })

  test('is cut to the width of the terminal, as a line that wraps cannot be replaced', () => {
    const shown = terminal(true, 10)
    printProgress('Starting PostgreSQL')
    expect(shown()).toBe(`${CLEAR}Starting `)
    expect(endProgress()).toBe(CLEAR)
    expect(endProgress()).toBe('')
  })

  test('has a line each where the output is not a terminal', () => {
    const shown = terminal(false)
    printProgress('Starting PostgreSQL')
    printLine('Ready')
    expect(shown()).toBe('Starting PostgreSQL\nReady\n')
  })
})
