def publish(experiment, folder, console):
    pass
