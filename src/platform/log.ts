import pino, { type Logger } from 'pino'

/**
 * Anything that looks like a credential, a password in an address, or the value of a secret header. The id of a customer
 * ends like a merchant's key and is none: exactly that is let through.
 */
const SECRETS = [
  /()(?:\b(?:sk|at|mer)_[\w-]{8,}|(?!(?<=\bcusto)mer_[0-9a-z]{26}(?![\w-]))(?:sk|at|mer)_[\w-]{24,})/g,
  /(:\/\/[^\s:/"]{1,64}:)[^\s@"]+(?=@)/g,
  /((?:authorization|x-dashboard-secret|cookie)"?\s*[:=]\s*"?)[^",}]+/gi,
]

export type { Logger }

/** Takes out every secret, whoever logs it and wherever in the line it stands. */
export const redactor =
  (own: readonly string[]) =>
  (line: string): string => {
    const known = own.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)
    return SECRETS.reduce((text, pattern) => text.replace(pattern, '$1[secret]'), known)
  }

/** What failed and where. A database quotes the row that it refused: that is a person's data, not ours to log. */
function withoutData(error: NodeJS.ErrnoException & { constraint?: string }) {
  const message = String(error.message)
    .split('\n')[0]
    ?.replace(/'[^']*'/g, "'…'")
    .slice(0, 300)
  const stack = String(error.stack).match(/^ +at .*$/gm)
  return { type: error.name, code: error.code, constraint: error.constraint, message, stack }
}

/** A write for each line costs as much as the request that it tells of. What is left is written at the exit. */
const MANY_LINES_A_WRITE = { fd: 1, sync: false, minLength: 8_192, periodicFlush: 100 }

/** JSON, a line a record; readable where a person looks on. */
export function openLog(level: string, secrets: readonly string[]): Logger {
  const streamWrite = redactor(secrets)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutData },
    hooks: { streamWrite },
  }
  if (!process.stdout.isTTY) return pino(options, pino.destination(MANY_LINES_A_WRITE))
  return pino(
    { ...options, hooks: { streamWrite: line => readable(streamWrite(line)) } },
    pino.destination(1),
  )
}

const NAMES: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'ERROR',
  60: 'FATAL',
}

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
  const details = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
  return `${String(time).slice(11, 23)} ${NAMES[Number(level)] ?? level} ${msg ?? ''} ${details.join(' ')}\n`
}
