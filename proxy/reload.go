package proxy

import "leeway/routing"

// Reload takes from settings read anew what may change while requests run: the mode of the cache preference, for all
// decisions from now on, the clients' key and the certificate. Settings that could not be read, which err says, change
// nothing.
func (g *Gateway) Reload(c Config, r routing.Config, err error) {
	if err == nil {
		err = g.credentials.reload(c)
	}
	if err == nil {
		err = g.applyMode(r.CacheMode)
	}
	if err != nil {
		reloadFailures.Inc()
		g.log.Error().Err(err).Msg("the settings stay as they were")
		return
	}
	g.log.Info().Msg("settings read anew: the cache mode, api_key and the certificate are in force, others are at the next start")
}

func (g *Gateway) applyMode(name string) error {
	mode, err := routing.ParseMode(name)
	if err != nil {
		return err
	}
	g.router.SetMode(mode)
	configGeneration.Inc()
	g.log.Info().Stringer("mode", g.router.Mode()).Msg("cache preference")
	return nil
}
