// Whoever reads our output may go before us; that is no reason to fail.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function complain(line: string): void {
  process.stderr.write(`${line}\n`)
}
