// The reader of the output may exit first (`npm start | head`). That is no failure.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const CLEAR_LINE = '\r\u001b[2K'
const NARROWEST = 80

let isProgressShown = false

/** What removes the progress from the terminal, before anything else is written there. */
export function endProgress(): string {
  const clear = isProgressShown ? CLEAR_LINE : ''
  isProgressShown = false
  return clear
}

/** One line, which the next one replaces on a terminal. Elsewhere each has a line of its own. */
export function printProgress(text: string): void {
  const { isTTY, columns } = process.stdout
  if (!isTTY) {
    printLine(text)
    return
  }
  // A line that wraps could not be replaced. A terminal may not know its width.
  process.stdout.write(`${CLEAR_LINE}${text.slice(0, (columns || NARROWEST) - 1)}`)
  isProgressShown = true
}

export function printLine(line: string): void {
  process.stdout.write(`${endProgress()}${line}\n`)
}

export function printError(line: string): void {
  process.stdout.write(endProgress())
  process.stderr.write(`${line}\n`)
}
