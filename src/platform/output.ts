// The reader of the output may exit first (`npm start | head`). That is no failure.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}
