import pino, { type Logger } from 'pino'
import { escapeLine } from '../values/terminal-text.ts'
import { endProgress } from './output.ts'

/** Matches credentials. The prefix `pt_` also ends the ids of receipts, which pass. */
const CREDENTIALS =
  /\bwhsec_[\w+/-]{8,}=?|\b(?:sk|at|cst|lnk|con|pt|dlg|dvc|oac|ort)_[\w-]{8,}|(?:sk|at|cst|lnk|(?<![a-z])(?:con|pt|oac|ort))_[\w-]{24,}/g

/**
 * A possible password in a URL, and the @ after it. The @ is optional: a pattern that fails without it would
 * rescan the rest of the line from each `://`.
 */
const MAYBE_PASSWORD = /(:\/\/[^\s:/"]{1,64}:)[^\s@"]+(@?)/g

const SECRET_HEADERS = /((?:authorization|x-dashboard-secret|cookie)"?\s*[:=]\s*"?)[^",}]+/gi

export type { Logger }

export const redactor =
  (own: readonly string[]) =>
  (line: string): string => {
    const known = own.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)
    return known
      .replace(CREDENTIALS, '[secret]')
      .replace(MAYBE_PASSWORD, (found, start, at) => (at === '' ? found : `${start}[secret]@`))
      .replace(SECRET_HEADERS, '$1[secret]')
  }

/** Omits quoted values: PostgreSQL's messages quote the refused row, which has personal data. */
function withoutValues(error: NodeJS.ErrnoException & { constraint?: string }) {
  const message = String(error.message)
    .split('\n')[0]
    ?.replace(/'[^']*'/g, "'…'")
    .slice(0, 300)
  const stack = String(error.stack).match(/^ +at .*$/gm)
  return { type: error.name, code: error.code, constraint: error.constraint, message, stack }
}

/** Lines are written in blocks: a write per line would cost as much as the request. The rest is written at exit. */
const BUFFERED = { fd: 1, sync: false, minLength: 8_192, periodicFlush: 100 }

export type LogFormat = 'json' | 'text'

const usualFormat = (): LogFormat => (process.stdout.isTTY ? 'text' : 'json')

interface LogOptions {
  readonly level: string
  readonly secrets: readonly string[]
  readonly format?: LogFormat | undefined
  /** Members of each line, by what writes it. */
  readonly fields?: (() => object) | undefined
}

export function openLog({ level, secrets, format = usualFormat(), fields }: LogOptions): Logger {
  const redact = redactor(secrets)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutValues },
    ...(fields && { mixin: fields }),
    hooks: { streamWrite: format === 'json' ? redact : textLine(redact) },
  }
  return pino(options, pino.destination(process.stdout.isTTY ? 1 : BUFFERED))
}

const textLine =
  (redact: (line: string) => string) =>
  (line: string): string => {
    const text = formatLogLine(redact(line))
    return text && endProgress() + text
  }

const NAMES: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'ERROR',
  60: 'FATAL',
}

/** One line in plain characters: third parties choose names and messages, and a terminal would interpret theirs. */
export function formatLogLine(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
  if (isAsset(rest)) return ''
  const words = 'milliseconds' in rest ? requestLine(rest) : `${msg ?? ''} ${detailsOf(rest)}`
  const severity = level === 30 ? '' : `${NAMES[Number(level)] ?? level} `
  return `${escapeLine(`${String(time).slice(11, 19)} ${severity}${words.trim()}`)}\n`
}

const isAsset = ({ operation, status }: Record<string, unknown>): boolean =>
  /Asset$/.test(String(operation)) && Number(status) < 400

/** Includes the request id for failures only. */
function requestLine({
  method,
  path,
  status,
  milliseconds,
  errorCode,
  requestId,
}: Record<string, unknown>): string {
  const why = Number(status) < 400 ? [] : [errorCode, requestId]
  return [method, path ?? 'an unknown path', status, `${Math.round(Number(milliseconds))} ms`, ...why]
    .filter(Boolean)
    .join(' ')
}

const detailsOf = (rest: Record<string, unknown>): string =>
  Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')
