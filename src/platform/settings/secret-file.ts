import { readFileSync } from 'node:fs'
import { WrongSetting } from './setting.ts'

/**
 * A secret from its variable, or from the file that the variable of that name and `_FILE` names, as Docker and
 * Kubernetes hand secrets out. Both at once would leave open which one counts.
 */
export function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim()
  const file = env[`${name}_FILE`]?.trim()
  if (value && file) throw new WrongSetting(`${name} and ${name}_FILE are both set: set one of them.`)
  return file ? contentsOf(file, `${name}_FILE`) : value
}

function contentsOf(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new WrongSetting(`${variable}: ${file} cannot be read (${code}).`)
  }
}
