import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** A program that no package registry offers. It is built beforehand, as its makers say, and named by a variable. */
export const namedProgram = (variable: string): string => resolve(process.env[variable] ?? '')

export function absenceOf(variable: string): string | null {
  const named = process.env[variable]
  if (!named) return `it is in no package registry; ${variable} names its program`
  return existsSync(named) ? null : `${variable} names no file`
}
