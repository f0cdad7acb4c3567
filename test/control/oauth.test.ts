import './oauth/attacks.ts'
import './oauth/clients.ts'
import './oauth/flow.ts'
