import { spawn } from 'node:child_process'
import { release, type } from 'node:os'
import { type CommandIo, parseUrl } from '../io.ts'

const isMac = (): boolean => type() === 'Darwin'
const isWsl = (): boolean => /microsoft/i.test(release())

/** The programs that open an address in the user's browser, the best first. `BROWSER` names another one. */
function openers({ BROWSER }: CommandIo['env']): string[] {
  if (BROWSER) return [BROWSER]
  if (isMac()) return ['open']
  return isWsl() ? ['wslview', 'xdg-open'] : ['xdg-open']
}

/** Whether a browser would be visible to the user: over SSH it is not. */
function hasScreen({ BROWSER, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: CommandIo['env']): boolean {
  if (BROWSER) return true
  if (SSH_CONNECTION) return false
  return isMac() || isWsl() || Boolean(DISPLAY || WAYLAND_DISPLAY)
}

export async function openBrowser(url: string, { env }: Pick<CommandIo, 'env'>): Promise<boolean> {
  // Anything but a web address could be read as an option of the opener.
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? '') || !hasScreen(env)) return false
  for (const opener of openers(env)) if (await starts(opener, url, env)) return true
  return false
}

const starts = (program: string, url: string, env: CommandIo['env']): Promise<boolean> =>
  new Promise(resolve => {
    const child = spawn(program, [url], { detached: true, stdio: 'ignore', env: { ...env } })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
