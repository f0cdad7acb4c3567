import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** A program that the Go module proxy does not serve. It is built beforehand, as its makers say, and named by a variable. */
export const namedProgram = (variable: string): string => resolve(process.env[variable] ?? '')

export function absenceOf(variable: string): string | null {
  const named = process.env[variable]
  if (!named) return `the Go module proxy does not serve it; ${variable} names its program`
  return existsSync(named) ? null : `${variable} names no file`
}
