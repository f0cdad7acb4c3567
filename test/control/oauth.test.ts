import './oauth/attacks.ts'
import './oauth/clients.ts'
import './oauth/connected.ts'
import './oauth/flow.ts'
