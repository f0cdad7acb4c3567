import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './image.ts'

interface Package {
  readonly name: string
  readonly version: string
}

/** Throws if the image's SBOM lists other packages than the image holds; returns their number. */
export function checkSbom({ folder }: Pick<Image, 'folder'>): number {
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.json'), 'utf8')) as {
    readonly components: readonly { readonly 'bom-ref': string }[]
  }
  const listed = new Set(components.map(component => component['bom-ref']))
  const held = packagesIn(join(folder, 'node_modules'))
  const problems = [
    ...[...held].filter(id => !listed.has(id)).map(id => `${id} is not in the SBOM`),
    ...[...listed].filter(id => !held.has(id)).map(id => `${id} is not in the image`),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return held.size
}

function packagesIn(modules: string): Set<string> {
  const names = existsSync(modules) ? readdirSync(modules).filter(name => !name.startsWith('.')) : []
  return new Set(
    names.flatMap(name => {
      const folder = join(modules, name)
      if (name.startsWith('@')) return [...packagesIn(folder)]
      const own = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
      return [`${own.name}@${own.version}`, ...packagesIn(join(folder, 'node_modules'))]
    }),
  )
}
