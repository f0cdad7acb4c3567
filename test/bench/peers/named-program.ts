import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** A program that the Go module proxy does not serve. It is built beforehand, as its makers say, and named by a variable. */
export const namedProgram = (variable: string): string => resolve(process.env[variable] ?? '')

/** The version is what the build has written into the program: the tag or commit of its checkout, or `Version` of its makers. */
export function nameOf(maker: string, variable: string): string {
  if (absenceOf(variable) !== null) return maker
  const { stdout } = spawnSync('go', ['version', '-m', namedProgram(variable)], { encoding: 'utf8' })
  const [, version] = /(?:^\tmod\t\S+\t|\.Version=)(v[^\s"]+)/m.exec(stdout ?? '') ?? []
  return version ? `${maker} ${version}` : maker
}

export function absenceOf(variable: string): string | null {
  const named = process.env[variable]
  if (!named) return `the Go module proxy does not serve it; ${variable} names its program`
  return existsSync(named) ? null : `${variable} names no file`
}
