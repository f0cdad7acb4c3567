import { resolve } from 'node:path'
import { type Compose, type Service, withLocalSecretPaths } from './compose.ts'
import type { Addresses, Parts } from './start.ts'

/** Starts the services of `docker-compose.yml` in its order, a program for each image; returns their addresses. */
export async function startServices({ compose, ...parts }: Parts & { compose: Compose }): Promise<Addresses> {
  const { services } = compose
  const addresses: Addresses = new Map()
  for (const name of inOrder(services)) {
    const service = services[name] as Service
    const program = parts.programs[service.image.replace(/:.*/, '')]
    if (!program) throw new Error(`no program is known for ${service.image}`)
    const began = performance.now()
    await program({ ...parts, ...localized(service, addresses, compose), name, service, addresses })
    parts.tell(`  ${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }
  return addresses
}

/** The names of the services, each after its dependencies. */
function inOrder(services: Compose['services']): string[] {
  const order = new Set<string>()
  const visit = (name: string): void => {
    Object.keys(services[name]?.depends_on ?? {}).forEach(visit)
    order.add(name)
  }
  Object.keys(services).forEach(visit)
  return [...order]
}

/** Command and environment with this machine's addresses and folders in place of the containers'. */
function localized(
  { command = [], environment = {}, volumes = [] }: Service,
  addresses: Addresses,
  compose: Compose,
) {
  const mounts = volumes
    .map(volume => volume.split(':'))
    .map(([from = '', to = '']) => [to, resolve(from)] as const)
  const withLocalAddresses = (text: string) =>
    [...addresses, ...mounts].reduce(
      (result, [containerAddress, place]) => result.replace(containerAddress, place),
      withLocalSecretPaths(text, compose),
    )
  return {
    compose,
    command: (typeof command === 'string' ? command.split(' ') : command).map(withLocalAddresses),
    env: Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, withLocalAddresses(value)]),
    ),
  }
}
